package verbena.verbs;

/// One entry of a port's GID table (ibv_query_gid_ex(3)). Immutable.
///
/// @param index position in the table, from 0; it may change with the interface's addresses, so look entries up by
///     GID and type
/// @param gid the address
/// @param type the encapsulation
/// @param networkInterface name of the network interface that carries the address, for example `eth0`
/// @param interfaceIndex the operating system's index of that interface; 0 when it has none
/// @since 0.1
public record GidEntry(int index, Gid gid, GidType type, String networkInterface, int interfaceIndex) {
    @Preview
    public GidEntry {}
}
