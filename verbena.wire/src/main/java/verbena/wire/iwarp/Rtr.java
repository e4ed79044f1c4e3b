package verbena.wire.iwarp;

/// The message of no bytes by which an initiator lets the responder send, in peer-to-peer mode (RFC 6581).
public enum Rtr {
    NONE,
    SEND,
    WRITE,
    READ
}
