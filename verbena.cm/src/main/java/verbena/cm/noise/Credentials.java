package verbena.cm.noise;

import org.jspecify.annotations.Nullable;
import verbena.verbs.Gid;

/// The statement of an end of who it is, beside the secret of all, and its judgement of the peer's. It travels
/// encrypted, in the message that shows the key of the end.
public interface Credentials {
    /// The most bytes of a statement: with them a message fits the smallest path of IPv6.
    int BYTES_MAX = 1_080;

    /// The credentials of ends that only a secret tells from strangers.
    Credentials NONE = new Credentials() {
        @Override
        public byte[] show(byte[] key) {
            return new byte[0];
        }

        @Override
        public @Nullable String refusal(Gid peer, byte[] key, byte[] shown) {
            return shown.length == 0 ? null : "shows something that nobody has asked for";
        }
    };

    /// Returns the statement that a key is this end's: at most [#BYTES_MAX].
    byte[] show(byte[] key);

    /// Returns why the owner of a key is not the device at an address; null when it is.
    ///
    /// @param key of the peer, which has proved that it has the private one
    /// @param shown bytes of any content
    @Nullable
    String refusal(Gid peer, byte[] key, byte[] shown);
}
