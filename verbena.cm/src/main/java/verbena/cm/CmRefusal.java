package verbena.cm;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;
import verbena.wire.cm.PrivateData;
import verbena.wire.cm.Rej;

/// The reasons why a Verbena end refuses where the standard has none: they stand in the additional information of a
/// REJ, behind four bytes that mark it as Verbena's.
public enum CmRefusal {
    /// Too many connections of the peer have asked for memory that they may not have ([CmSuspects]).
    BLOCKED("refuses for a while: connections from here have asked for memory that they may not have"),
    /// A request has to be proven ([CmProof]); the challenge follows.
    CHALLENGE("wants the secret proven again and again"),
    /// The passive side has a secret, and the request has none.
    SECRET_WANTED("takes connections with a secret only"),
    /// The request has a secret, and the passive side has none.
    SECRET_UNWANTED("has no secret for its connections"),
    /// One side does not know the other's secret, or the messages were changed on the way.
    SECRET_WRONG("has another secret, or the messages were changed on the way"),
    /// The passive side takes packets of PSP only, and the request was none.
    PSP_WANTED("takes encrypted packets only (its policy is \"required\": use psp=on)"),
    /// The passive side has not agreed on keys for packets of PSP. Its peer's device says so, not the passive side.
    PSP_UNANSWERED("agrees on no keys, and only encrypted packets leave this device (its policy is \"required\"):"
            + " it has no psp, another secret, or is not there");

    private static final byte[] MARK = {'V', 'r', 'b', 'n'};
    private static final CmRefusal[] ALL = values();

    private final String text;

    CmRefusal(String text) {
        this.text = text;
    }

    /// Returns in words what the peer does, and why.
    public String text() {
        return text;
    }

    /// Returns the additional information of a REJ with this reason.
    public PrivateData info() {
        byte[] bytes = Arrays.copyOf(MARK, MARK.length + 1);
        bytes[MARK.length] = (byte) (ordinal() + 1);
        return PrivateData.of(bytes);
    }

    /// Returns the same with a challenge behind it.
    public PrivateData info(byte[] challenge) {
        byte[] plain = info().bytes();
        byte[] all = Arrays.copyOf(plain, plain.length + challenge.length);
        System.arraycopy(challenge, 0, all, plain.length, challenge.length);
        return PrivateData.of(all);
    }

    /// Returns the challenge in the additional information of a [#CHALLENGE].
    public static byte[] challenge(PrivateData info) {
        return Arrays.copyOfRange(info.bytes(), MARK.length + 1, MARK.length + 1 + CmProof.NONCE_BYTES);
    }

    /// Returns the reason in a REJ; null when it is not a Verbena end's.
    public static @Nullable CmRefusal of(Rej rej) {
        return of(rej.info());
    }

    /// Returns the reason in the additional information of a rejection; null when it is not a Verbena end's.
    public static @Nullable CmRefusal of(PrivateData info) {
        byte[] bytes = info.bytes();
        boolean isOurs = bytes.length > MARK.length
                && Arrays.equals(bytes, 0, MARK.length, MARK, 0, MARK.length)
                && bytes[MARK.length] >= 1
                && bytes[MARK.length] <= ALL.length;
        return isOurs ? ALL[bytes[MARK.length] - 1] : null;
    }
}
