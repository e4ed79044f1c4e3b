package verbena.wire.mad;

/// The header of the reliable multi-packet protocol (IBTA 13.6.2), which cuts long answers into segments.
public final class Rmpp {
    /// The end of the header, in bytes from the beginning of the datagram.
    public static final int END = 36;
    /// The only version.
    public static final int VERSION = 1;
    /// [#TYPE]: a segment.
    public static final int DATA = 1;
    /// [#TYPE]: an acknowledgement of all segments up to a number.
    public static final int ACK = 2;
    /// [#TYPE]: the receiver or sender has no room.
    public static final int STOP = 3;
    /// [#TYPE]: something is wrong.
    public static final int ABORT = 4;

    /// [#STATUS]: nothing is wrong.
    public static final int STATUS_NORMAL = 0;
    /// [#STATUS] of a stop: no room.
    public static final int STATUS_NO_RESOURCES = 1;
    /// [#STATUS] of an abort: the last segment's length cannot be.
    public static final int STATUS_BAD_LENGTH = 119;
    /// [#STATUS] of an abort: a type that is none.
    public static final int STATUS_BAD_TYPE = 121;
    /// [#STATUS] of an abort: another version.
    public static final int STATUS_BAD_VERSION = 125;
    /// [#STATUS] of an abort: sent too often.
    public static final int STATUS_TOO_MANY_RETRIES = 126;

    public static final Field RMPP_VERSION = Field.of(24, 8);
    public static final Field TYPE = Field.of(25, 8);
    public static final Field RESPONSE_TIME = Field.of(26, 5);
    /// The last segment.
    public static final Field LAST = new Field(26, 5, 1);
    /// The first segment.
    public static final Field FIRST = new Field(26, 6, 1);
    /// The protocol is used at all.
    public static final Field ACTIVE = new Field(26, 7, 1);
    public static final Field STATUS = Field.of(27, 8);
    /// The number of this segment, or of the acknowledged segment; from 1.
    public static final Field SEGMENT = Field.of(28, 32);
    /// The bytes of the headers of subnet administration and of attributes, in a segment of data: those of all
    /// segments in the first, those of the segment itself in the last.
    public static final Field PAYLOAD_LENGTH = Field.of(32, 32);
    /// The last segment that may be sent, in an ACK.
    public static final Field NEW_WINDOW_LAST = Field.of(32, 32);

    private Rmpp() {}
}
