package verbena.verbs;

/// A handle for the path to a peer, which datagrams name as their destination (ibv_create_ah(3)). It cannot be
/// changed. Any thread may use it in any number of requests.
///
/// [ProtectionDomain#createAddressHandle] makes it, and the program closes it, before the protection domain.
/// Datagrams that were posted before keep their path. [SendBatch#to(AddressHandle, int, int)] throws
/// [InvalidStateException] for a closed handle.
///
/// @since 0.1
public interface AddressHandle extends VerbsObject {
    /// Returns the protection domain that the handle was made in. A queue pair of another one cannot use it.
    ProtectionDomain protectionDomain();

    /// Returns the path that the handle stands for.
    AddressVector vector();
}
