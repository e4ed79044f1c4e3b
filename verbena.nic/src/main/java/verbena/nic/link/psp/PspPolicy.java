package verbena.nic.link.psp;

import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import verbena.verbs.Gid;
import verbena.wire.ib.Bth;
import verbena.wire.psp.PspHeader;
import verbena.wire.roce.RoceV2;

/// The addresses whose packets have to be protected, those for which protection is offered, and those without. The
/// longest prefix decides. Also how much of protected packets all may read on the way.
public final class PspPolicy {
    /// The policy that requires protection of all.
    public static final PspPolicy REQUIRED = new PspPolicy(List.of(), Mode.REQUIRED);
    /// The policy that offers it to all.
    public static final PspPolicy OFFERED = new PspPolicy(List.of(), Mode.OFFERED);

    /// The largest crypt offset: up to the end of the BTH. Behind it are keys of memory.
    public static final int CRYPT_OFFSET_MAX = (RoceV2.UDP_BYTES + Bth.BYTES) / PspHeader.OFFSET_UNIT;

    /// The demand on the packets of a peer.
    public enum Mode {
        /// Only protected packets leave and are taken.
        REQUIRED,
        /// Packets are protected when both ends can do it, and in the clear otherwise.
        OFFERED,
        /// Packets in the clear only.
        OFF;

        /// Returns the mode of this name in a file.
        ///
        /// @throws IllegalArgumentException when there is none; names those that there are
        public static Mode parse(String word) {
            for (Mode mode : values()) {
                if (mode.toString().equals(word)) {
                    return mode;
                }
            }
            throw new IllegalArgumentException("\"" + word + "\" is no mode; there are required, offered and off");
        }

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /// The mode of the addresses that begin alike.
    ///
    /// @param bits that count, of the 128 of a GID
    public record Rule(Gid prefix, int bits, Mode mode) {
        private static final int IPV4_BEFORE = 96;

        /// Reads a prefix such as `10.0.0.0/8`, or an address alone.
        ///
        /// @throws IllegalArgumentException when it is none, with the word
        public static Rule parse(String word, Mode mode) {
            int slash = word.indexOf('/');
            Gid prefix;
            try {
                prefix = Gid.parse(slash < 0 ? word : word.substring(0, slash));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("\"" + word + "\" is no address or prefix", e);
            }
            int before = prefix.isIpv4() ? IPV4_BEFORE : 0;
            int most = Gid.BYTES * Byte.SIZE - before;
            int length = slash < 0 ? most : length(word.substring(slash + 1), most);
            if (length < 0) {
                throw new IllegalArgumentException("\"" + word + "\": a prefix has 0 to " + most + " bits");
            }
            var rule = new Rule(prefix, before + length, mode);
            if ((prefix.high() & ~rule.highMask()) != 0 || (prefix.low() & ~rule.lowMask()) != 0) {
                throw new IllegalArgumentException("\"" + word + "\": has bits beyond the length of its prefix");
            }
            return rule;
        }

        private static int length(String text, int most) {
            try {
                int length = Integer.parseInt(text);
                return length > most ? -1 : length;
            } catch (NumberFormatException _) {
                return -1;
            }
        }

        private long highMask() {
            return bits == 0 ? 0 : -1L << Math.max(0, Long.SIZE - bits);
        }

        private long lowMask() {
            return bits <= Long.SIZE ? 0 : -1L << (2 * Long.SIZE - bits);
        }

        boolean covers(long high, long low) {
            return ((high ^ prefix.high()) & highMask()) == 0 && ((low ^ prefix.low()) & lowMask()) == 0;
        }
    }

    private final Rule[] rules;
    private final Mode others;
    private final int cryptOffset;

    /// Makes a policy with crypt offset 0: nothing can be read.
    ///
    /// @param others the mode of addresses that no rule covers
    /// @throws IllegalArgumentException when two rules have the same prefix
    public PspPolicy(List<Rule> rules, Mode others) {
        this(rules, others, 0);
    }

    /// @param others the mode of addresses that no rule covers
    /// @param cryptOffset of packets that leave, in units of [PspHeader#OFFSET_UNIT], [#CRYPT_OFFSET_MAX] at most
    /// @throws IllegalArgumentException when two rules have the same prefix, or the offset is larger
    public PspPolicy(List<Rule> rules, Mode others, int cryptOffset) {
        if (cryptOffset < 0 || cryptOffset > CRYPT_OFFSET_MAX) {
            throw new IllegalArgumentException("offset: 0 to " + CRYPT_OFFSET_MAX + ", got " + cryptOffset);
        }
        this.cryptOffset = cryptOffset;
        this.rules = rules.stream()
                .sorted(Comparator.comparingInt(Rule::bits).reversed())
                .toArray(Rule[]::new);
        this.others = others;
        for (int i = 1; i < this.rules.length; i++) {
            for (int j = 0; j < i; j++) {
                if (this.rules[i].bits == this.rules[j].bits && this.rules[i].prefix.equals(this.rules[j].prefix)) {
                    throw new IllegalArgumentException("two rules for " + this.rules[i].prefix);
                }
            }
        }
    }

    /// Returns whether all packets are in the clear.
    public boolean isOff() {
        if (others != Mode.OFF) {
            return false;
        }
        for (Rule rule : rules) {
            if (rule.mode != Mode.OFF) {
                return false;
            }
        }
        return true;
    }

    /// Returns how much of a packet that leaves is not encrypted, in units of [PspHeader#OFFSET_UNIT].
    int cryptOffset() {
        return cryptOffset;
    }

    /// Returns the mode of packets to and from an address.
    Mode of(long high, long low) {
        for (Rule rule : rules) {
            if (rule.covers(high, low)) {
                return rule.mode;
            }
        }
        return others;
    }

    @Override
    public String toString() {
        var text = new StringBuilder();
        for (Rule rule : rules) {
            int bits = rule.prefix.isIpv4() ? rule.bits - Rule.IPV4_BEFORE : rule.bits;
            text.append(rule.prefix)
                    .append('/')
                    .append(bits)
                    .append(' ')
                    .append(rule.mode)
                    .append(", ");
        }
        return text + (rules.length == 0 ? "" : "others ") + others;
    }
}
