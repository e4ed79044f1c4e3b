package verbena.wire.mad;

import java.lang.foreign.MemorySegment;

/// The header that every management datagram begins with (IBTA 13.4.2). It travels as a UD SEND ONLY of
/// [#BYTES]: to queue pair 0 for subnet management, and to queue pair 1 with the Q_Key [#QKEY] for all else.
public final class Mad {
    /// Size of every management datagram, in bytes.
    public static final int BYTES = 256;
    /// Size of the header, in bytes.
    public static final int HEADER_BYTES = 24;
    /// The queue pair that general management datagrams come from and go to.
    public static final int QPN = 1;
    /// The Q_Key of queue pair 1.
    public static final int QKEY = 0x8001_0000;
    /// Version of the header itself.
    public static final int BASE_VERSION_1 = 1;

    /// Management class of subnet management, routed by LID.
    public static final int CLASS_SUBNET_LID = 0x01;
    /// Management class of subnet management by directed route.
    public static final int CLASS_SUBNET_DIRECTED = 0x81;
    /// Management class of subnet administration.
    public static final int CLASS_SUBNET_ADMINISTRATION = 0x03;
    /// Management class of performance management.
    public static final int CLASS_PERFORMANCE = 0x04;
    /// Management class of the communication manager.
    public static final int CLASS_CM = 0x07;
    /// Version of the communication manager's class.
    public static final int CM_VERSION = 2;
    /// Version of the class of subnet administration.
    public static final int SUBNET_ADMINISTRATION_VERSION = 2;
    /// Version of the classes of subnet and of performance management.
    public static final int VERSION_1 = 1;

    /// A request for an attribute.
    public static final int METHOD_GET = 0x01;
    /// A request to change an attribute.
    public static final int METHOD_SET = 0x02;
    /// The only method of the communication manager.
    public static final int METHOD_SEND = 0x03;
    /// An agent's message to a manager about an event.
    public static final int METHOD_TRAP = 0x05;
    /// A notice that is forwarded to those that have asked for it.
    public static final int METHOD_REPORT = 0x06;
    /// An answer that ends the repetition of a trap.
    public static final int METHOD_TRAP_REPRESS = 0x07;
    /// A request for all records that match.
    public static final int METHOD_GET_TABLE = 0x12;
    /// A request to remove a record.
    public static final int METHOD_DELETE = 0x15;
    /// The bit by which a method differs from that of its answer; set in all answers but TrapRepress.
    public static final int RESPONSE = 0x80;
    /// The answer to Get and Set.
    public static final int METHOD_GET_RESPONSE = METHOD_GET | RESPONSE;

    /// Status: the agent has not the time now.
    public static final int STATUS_BUSY = 0x0001;
    /// Status: the class has not this version.
    public static final int STATUS_BAD_VERSION = 0x0004;
    /// Status: the class has not this method.
    public static final int STATUS_BAD_METHOD = 0x0008;
    /// Status: not this method with this attribute.
    public static final int STATUS_BAD_ATTRIBUTE = 0x000C;
    /// Status: a field of the attribute, or its modifier, has an invalid value.
    public static final int STATUS_BAD_VALUE = 0x001C;

    private static final Field BASE_VERSION = Field.of(0, 8);
    private static final Field MANAGEMENT_CLASS = Field.of(1, 8);
    private static final Field CLASS_VERSION = Field.of(2, 8);
    private static final Field METHOD = Field.of(3, 8);
    private static final Field STATUS = Field.of(4, 16);
    private static final Field TRANSACTION_ID = Field.of(8, 64);
    private static final Field ATTRIBUTE_ID = Field.of(16, 16);
    private static final Field ATTRIBUTE_MODIFIER = Field.of(20, 32);

    private Mad() {}

    /// Returns the base version, 1 in a legal datagram.
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

    /// Returns the status. In a datagram by directed route, its first bit is the direction of [Smp].
    public static int status(MemorySegment mad) {
        return STATUS.getInt(mad);
    }

    /// Returns the transaction ID. The asking side chooses it, the answering side echoes it.
    public static long transactionId(MemorySegment mad) {
        return TRANSACTION_ID.get(mad);
    }

    public static int attributeId(MemorySegment mad) {
        return ATTRIBUTE_ID.getInt(mad);
    }

    public static int attributeModifier(MemorySegment mad) {
        return ATTRIBUTE_MODIFIER.getInt(mad);
    }

    /// Writes the header, and zeroes behind it.
    ///
    /// @param attributeModifier 32 bits, whose meaning is the attribute's
    public static void write(
            MemorySegment mad,
            int managementClass,
            int classVersion,
            int method,
            long transactionId,
            int attributeId,
            int attributeModifier) {
        mad.asSlice(0, BYTES).fill((byte) 0);
        BASE_VERSION.put(mad, BASE_VERSION_1);
        MANAGEMENT_CLASS.put(mad, managementClass);
        CLASS_VERSION.put(mad, classVersion);
        METHOD.put(mad, method);
        TRANSACTION_ID.put(mad, transactionId);
        ATTRIBUTE_ID.put(mad, attributeId);
        ATTRIBUTE_MODIFIER.put(mad, attributeModifier);
    }

    /// Makes a request into its answer, whose remaining bytes stay.
    public static void answer(MemorySegment mad, int method, int status) {
        METHOD.put(mad, method);
        STATUS.put(mad, status);
    }

    /// Allocates a datagram of zeroes.
    public static MemorySegment allocate() {
        return MemorySegment.ofArray(new byte[BYTES]);
    }

    /// Copies the datagram into memory of its own.
    public static MemorySegment copyOf(MemorySegment mad) {
        return allocate().copyFrom(mad.asSlice(0, BYTES));
    }
}
