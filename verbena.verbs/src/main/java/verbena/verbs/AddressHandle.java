package verbena.verbs;

/// A way to a peer, prepared for datagrams (ibv_create_ah(3)).
public interface AddressHandle extends VerbsObject {
    ProtectionDomain protectionDomain();

    AddressVector vector();
}
