package verbena.verbs;

import java.util.Objects;

/// The path that a connected queue pair migrates to when its own path fails (IBTA 17.2.8; the `alt_` fields of
/// `struct ibv_qp_attr`). Immutable.
///
/// @param path to the same peer
/// @param pkeyIndex index of the P_Key that packets have on it, 0 to 65,535
/// @param timeout ACK timeout on it
/// @since 0.1
public record AlternatePath(AddressVector path, int pkeyIndex, AckTimeout timeout) {
    public AlternatePath {
        Objects.requireNonNull(path, "path");
        Objects.requireNonNull(timeout, "timeout");
        Checks.range("pkeyIndex", pkeyIndex, 0, 65_535);
    }
}
