package verbena.verbs;

import java.util.EnumSet;
import java.util.Set;

/// Thrown when attributes of a queue pair or an address handle do not fit (ibv_modify_qp(3): EINVAL). A required
/// attribute is missing, one is not allowed in this transition, or a value is out of range. Nothing was changed.
///
/// @since 0.1
public final class InvalidAttributesException extends VerbsException {
    private static final long serialVersionUID = 1L;

    private final EnumSet<QpAttribute> missing;
    private final EnumSet<QpAttribute> forbidden;

    /// @param missing attributes that the transition requires and did not get
    /// @param forbidden attributes that the transition does not take
    public InvalidAttributesException(String message, Set<QpAttribute> missing, Set<QpAttribute> forbidden) {
        super(message, null);
        this.missing = copy(missing);
        this.forbidden = copy(forbidden);
    }

    /// @param message the attribute, its values and the one that was given
    public InvalidAttributesException(String message) {
        this(message, Set.of(), Set.of());
    }

    /// Returns the attributes that the transition requires and did not get.
    public Set<QpAttribute> missing() {
        return copy(missing);
    }

    /// Returns the attributes that the transition does not take.
    public Set<QpAttribute> forbidden() {
        return copy(forbidden);
    }

    private static EnumSet<QpAttribute> copy(Set<QpAttribute> set) {
        var copy = EnumSet.noneOf(QpAttribute.class);
        copy.addAll(set);
        return copy;
    }
}
