package verbena.verbs;

import java.util.Objects;

/// The path that a connected queue pair migrates to when its own fails (IBTA 17.2.8; the `alt_` fields of
/// `struct ibv_qp_attr`).
///
/// @param pkeyIndex of the P_Key that packets have there
/// @param timeout the ACK timeout there
public record AlternatePath(AddressVector path, int pkeyIndex, AckTimeout timeout) {
    public AlternatePath {
        Objects.requireNonNull(path, "path");
        Objects.requireNonNull(timeout, "timeout");
        Checks.range("pkeyIndex", pkeyIndex, 0, 65_535);
    }
}
