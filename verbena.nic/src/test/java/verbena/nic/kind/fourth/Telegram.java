package verbena.nic.kind.fourth;

/// What goes through a tube.
///
/// @param isAnswer whether it says what became of the peer's telegram
/// @param isTaken what it says
/// @param bytes of the message otherwise
@SuppressWarnings("ArrayRecordComponent") // never compared
record Telegram(int toQpn, int fromQpn, boolean isAnswer, boolean isTaken, byte[] bytes) {
    static final int BYTES_MAX = 8;

    static Telegram of(int toQpn, int fromQpn, byte[] bytes) {
        return new Telegram(toQpn, fromQpn, false, false, bytes);
    }

    Telegram answer(boolean taken) {
        return new Telegram(/* toQpn= */ fromQpn, /* fromQpn= */ toQpn, true, taken, new byte[0]);
    }
}
