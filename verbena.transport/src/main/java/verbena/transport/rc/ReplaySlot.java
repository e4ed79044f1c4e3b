package verbena.transport.rc;

/// What the responder remembers of a READ or atomic, to answer a duplicate of it (IBTA 9.7.5.1.3): READs are carried
/// out again from memory, atomics get the result that they had.
final class ReplaySlot {
    boolean isAtomic;
    boolean isValid;
    int psn;
    int psnCount;
    // READ
    long address;
    long bytes;
    int rkey;
    // atomic
    long original;
}
