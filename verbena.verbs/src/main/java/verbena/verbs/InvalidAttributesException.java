package verbena.verbs;

import java.util.EnumSet;
import java.util.Set;

/// A modification of a queue pair that lacks a required attribute, has one that this transition does not take, or a
/// value out of range (ibv_modify_qp(3): EINVAL). Nothing was changed.
public final class InvalidAttributesException extends VerbsException {
    private static final long serialVersionUID = 1L;

    private final EnumSet<QpAttribute> missing;
    private final EnumSet<QpAttribute> forbidden;

    public InvalidAttributesException(String message, Set<QpAttribute> missing, Set<QpAttribute> forbidden) {
        super(message, null);
        this.missing = copy(missing);
        this.forbidden = copy(forbidden);
    }

    public InvalidAttributesException(String message) {
        this(message, Set.of(), Set.of());
    }

    /// Attributes that the transition requires and did not get.
    public Set<QpAttribute> missing() {
        return copy(missing);
    }

    /// Attributes that the transition does not take.
    public Set<QpAttribute> forbidden() {
        return copy(forbidden);
    }

    private static EnumSet<QpAttribute> copy(Set<QpAttribute> set) {
        var copy = EnumSet.noneOf(QpAttribute.class);
        copy.addAll(set);
        return copy;
    }
}
