package verbena.transport.rc;

/// What the responder remembers of a request that has an answer of its own, for a duplicate of it (IBTA 9.7.5.1.3):
/// READs are carried out again from memory, all else gets the answer that it had.
final class ReplaySlot {
    Answers.Kind kind = Answers.Kind.READ;
    boolean isValid;
    int psn;
    int psnCount;
    // READ
    long address;
    long bytes;
    int rkey;
    /// The one whose memory it reads.
    int protectionDomain;
    // atomic
    long original;
}
