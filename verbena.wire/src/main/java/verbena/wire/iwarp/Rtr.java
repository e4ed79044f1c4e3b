package verbena.wire.iwarp;

/// The message of no bytes by which an initiator says, in peer-to-peer mode, that the responder may send (RFC
/// 6581).
public enum Rtr {
    NONE,
    SEND,
    WRITE,
    READ
}
