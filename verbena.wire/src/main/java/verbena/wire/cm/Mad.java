package verbena.wire.cm;

import java.lang.foreign.MemorySegment;

/// The header that every management datagram begins with (IBTA 13.4.2). It travels to queue pair 1 as a UD SEND
/// ONLY of [#BYTES] with the Q_Key [#QKEY].
public final class Mad {
    /// Size of every management datagram, in bytes.
    public static final int BYTES = 256;
    /// Size of the header, in bytes.
    public static final int HEADER_BYTES = 24;
    /// The queue pair that management datagrams come from and go to.
    public static final int QPN = 1;
    /// The Q_Key of queue pair 1.
    public static final int QKEY = 0x8001_0000;
    /// Management class of the communication manager.
    public static final int CLASS_CM = 0x07;
    /// Version of that class.
    public static final int CM_VERSION = 2;
    /// The method that it uses for everything.
    public static final int METHOD_SEND = 0x03;

    private static final Field BASE_VERSION = Field.of(0, 8);
    private static final Field MANAGEMENT_CLASS = Field.of(1, 8);
    private static final Field CLASS_VERSION = Field.of(2, 8);
    private static final Field METHOD = Field.of(3, 8);
    private static final Field STATUS = Field.of(4, 16);
    private static final Field TRANSACTION_ID = Field.of(8, 64);
    private static final Field ATTRIBUTE_ID = Field.of(16, 16);
    private static final Field ATTRIBUTE_MODIFIER = Field.of(20, 32);

    /// Behind the header: where every message of the communication manager but those of SIDR has it.
    static final Field LOCAL_COMM_ID = Field.of(HEADER_BYTES, 32);

    private Mad() {}

    /// 1 in a legal one.
    public static int baseVersion(MemorySegment mad) {
        return BASE_VERSION.getInt(mad);
    }

    public static int managementClass(MemorySegment mad) {
        return MANAGEMENT_CLASS.getInt(mad);
    }

    public static int classVersion(MemorySegment mad) {
        return CLASS_VERSION.getInt(mad);
    }

    public static int method(MemorySegment mad) {
        return METHOD.getInt(mad);
    }

    public static int status(MemorySegment mad) {
        return STATUS.getInt(mad);
    }

    /// The asking side chooses it, the answering side echoes it.
    public static long transactionId(MemorySegment mad) {
        return TRANSACTION_ID.get(mad);
    }

    public static int attributeId(MemorySegment mad) {
        return ATTRIBUTE_ID.getInt(mad);
    }

    public static int attributeModifier(MemorySegment mad) {
        return ATTRIBUTE_MODIFIER.getInt(mad);
    }

    /// Writes the header of a communication manager's message and zeroes behind it.
    static void writeCm(MemorySegment mad, long transactionId, int attributeId) {
        mad.asSlice(0, BYTES).fill((byte) 0);
        BASE_VERSION.put(mad, 1);
        MANAGEMENT_CLASS.put(mad, CLASS_CM);
        CLASS_VERSION.put(mad, CM_VERSION);
        METHOD.put(mad, METHOD_SEND);
        TRANSACTION_ID.put(mad, transactionId);
        ATTRIBUTE_ID.put(mad, attributeId);
    }
}
