package verbena.transport.psp;

import java.lang.foreign.MemorySegment;
import org.jspecify.annotations.Nullable;
import verbena.wire.psp.PspCipher;
import verbena.wire.psp.PspHeader;
import verbena.wire.psp.PspOpener;
import verbena.wire.psp.PspSealer;
import verbena.wire.psp.PspVerdict;
import verbena.wire.psp.PspVersion;

/// The keys by which two devices protect their packets: for each direction the keys of the last agreement, and for a
/// while those of the agreement before, so that no packet under way is lost. The older keys live until the peer is
/// known to seal by the new ones, and for the overlap from then on. A function of packets, agreements and time.
///
/// Of an agreement one end is the first that knows of the other's having the keys, because it has the last
/// answer. It seals by them at once ([#install]). The other end begins when a packet has shown that its answer
/// arrived ([#offer]); until then it opens by the new keys and seals by the old ones.
///
/// One owner; no allocation for a packet.
public final class Association implements AutoCloseable {
    /// The result of [#seal] when there are no keys that may be used. The packet is dropped, and never sent in the
    /// clear.
    public static final int NO_KEYS = -1;
    /// The deadline when nothing is to be done.
    public static final long NEVER = Long.MAX_VALUE;

    /// The keys of one agreement.
    ///
    /// @param sealing the cipher of packets to the peer, under an SPI that the peer has chosen
    /// @param opening the cipher of packets from the peer, under an SPI that this end has chosen
    public record Keys(int sealingSpi, PspCipher sealing, int openingSpi, PspCipher opening) {}

    /// The limits at which keys are renewed, and at which they die.
    ///
    /// @param renewBytes of packets sealed by keys, after which others are wanted
    /// @param endBytes after which no other packet is sealed by them
    /// @param renewNanos after which others are wanted
    /// @param endNanos after which they are dead
    /// @param overlapNanos after which keys are dead when the peer has begun to seal by others
    public record Limits(long renewBytes, long endBytes, long renewNanos, long endNanos, long overlapNanos) {
        /// @throws IllegalArgumentException when keys would die before they are renewed
        public Limits {
            if (renewBytes < 1 || endBytes < renewBytes) {
                throw new IllegalArgumentException(
                        "renewBytes: 1 to endBytes, which is " + endBytes + ", got " + renewBytes);
            }
            if (renewNanos < 1 || endNanos < renewNanos) {
                throw new IllegalArgumentException(
                        "renewNanos: 1 to endNanos, which is " + endNanos + ", got " + renewNanos);
            }
            if (overlapNanos < 0) {
                throw new IllegalArgumentException("overlapNanos: 0 or more, got " + overlapNanos);
            }
        }
    }

    /// The keys of an agreement at work.
    private static final class Epoch {
        final Keys keys;
        final PspOpener opener;
        final PspSealer sealer;
        final long bornNanos;
        long diesNanos;
        long sealedBytes;
        /// Whether the peer has sealed by them.
        boolean isUsed;

        Epoch(Keys keys, PspVersion version, int cryptOffset, Limits limits, long now) {
            this.keys = keys;
            opener = new PspOpener(version, keys.opening);
            sealer = new PspSealer(keys.sealingSpi, version, keys.sealing, cryptOffset, FIRST_IV);
            bornNanos = now;
            diesNanos = now + limits.endNanos;
        }
    }

    private static final int FIRST_IV = 1;

    private final PspVersion version;
    private final int cryptOffset;
    private final Limits limits;
    private final long[] verdicts = new long[PspVerdict.values().length];
    private long unsealed;
    private long sealed;
    private int agreements;
    /// The keys that were replaced, whose packets may be under way.
    private @Nullable Epoch previous;
    /// The keys that packets are sealed by.
    private @Nullable Epoch current;
    /// Agreed on, but not yet known to have reached the peer.
    private @Nullable Epoch next;

    /// Makes an association without keys.
    public Association(PspVersion version, int cryptOffset, Limits limits) {
        this.version = version;
        this.cryptOffset = cryptOffset;
        this.limits = limits;
    }

    /// Takes keys that the peer has for certain: packets are sealed by them from now on.
    public void install(Keys keys, long now) {
        close(next);
        next = null;
        replace(epoch(keys, now));
    }

    /// Takes keys that the peer may not have got yet: packets are sealed by them when one has come that was.
    public void offer(Keys keys, long now) {
        close(next);
        next = epoch(keys, now);
    }

    private void replace(Epoch by) {
        close(previous);
        previous = current;
        current = by;
        agreements++;
    }

    private Epoch epoch(Keys keys, long now) {
        return new Epoch(keys, version, cryptOffset, limits, now);
    }

    /// Handles a packet that was opened by these keys: the peer has them. Packets that it sealed by the keys before
    /// are on their way for a while only.
    private void onOpened(Epoch by, long now) {
        if (by == next) {
            next = null;
            replace(by);
        }
        if (by == current && !by.isUsed) {
            by.isUsed = true;
            if (previous != null) {
                previous.diesNanos = earlier(previous.diesNanos, now + limits.overlapNanos);
            }
        }
    }

    /// Returns whether packets can be sealed now.
    public boolean hasKeys(long now) {
        Epoch by = current;
        return by != null && !isDead(by, now);
    }

    /// Returns whether another agreement is wanted: there are no keys, or they are near their limits.
    public boolean wantsKeys(long now) {
        Epoch by = current;
        return by == null || by.sealedBytes >= limits.renewBytes || now - by.bornNanos >= limits.renewNanos;
    }

    /// Seals a text into a packet, as [PspSealer#seal] does. Returns the bytes of the packet, or [#NO_KEYS].
    public int seal(
            MemorySegment text, long textAt, int textBytes, MemorySegment packet, long at, int nextHeader, long now) {
        Epoch by = current;
        if (by == null || isDead(by, now) || by.sealedBytes >= limits.endBytes) {
            unsealed++;
            return NO_KEYS;
        }
        int bytes = by.sealer.seal(text, textAt, textBytes, packet, at, nextHeader);
        by.sealedBytes += bytes;
        sealed++;
        return bytes;
    }

    /// Judges a packet, and opens it when it is accepted, as [PspOpener#open] does.
    ///
    /// @param bytes from the header through the ICV
    public PspVerdict open(MemorySegment packet, long at, int bytes, MemorySegment text, long textAt, long now) {
        PspVerdict verdict = PspHeader.check(packet, at, bytes);
        if (verdict == PspVerdict.ACCEPTED) {
            Epoch by = epochOf(PspHeader.spi(packet, at), now);
            verdict = by == null ? PspVerdict.UNKNOWN : by.opener.open(packet, at, bytes, text, textAt);
            if (verdict == PspVerdict.ACCEPTED && by != null) {
                onOpened(by, now);
            }
        }
        verdicts[verdict.ordinal()]++;
        return verdict;
    }

    private @Nullable Epoch epochOf(int spi, long now) {
        Epoch found = is(current, spi) ? current : is(next, spi) ? next : is(previous, spi) ? previous : null;
        return found == null || isDead(found, now) ? null : found;
    }

    private static boolean is(@Nullable Epoch epoch, int spi) {
        return epoch != null && epoch.keys.openingSpi == spi;
    }

    private static boolean isDead(Epoch epoch, long now) {
        return now - epoch.diesNanos >= 0;
    }

    /// Returns the time at which [#onDeadline] is to be called; [#NEVER] when there are no keys.
    public long deadlineNanos() {
        return earliest(previous, earliest(current, earliest(next, NEVER)));
    }

    private static long earliest(@Nullable Epoch epoch, long deadline) {
        return epoch == null ? deadline : deadline == NEVER ? epoch.diesNanos : earlier(epoch.diesNanos, deadline);
    }

    /// Forgets keys whose time has come.
    public void onDeadline(long now) {
        previous = alive(previous, now);
        current = alive(current, now);
        next = alive(next, now);
    }

    private static @Nullable Epoch alive(@Nullable Epoch epoch, long now) {
        if (epoch == null || !isDead(epoch, now)) {
            return epoch;
        }
        close(epoch);
        return null;
    }

    private static long earlier(long one, long other) {
        return one - other < 0 ? one : other;
    }

    /// Returns whether packets leave under this SPI.
    public boolean sealsUnder(int spi) {
        return current != null && current.keys.sealingSpi == spi;
    }

    /// Returns whether this is the SPI of packets from the peer under the newest keys that both ends have.
    public boolean opensUnder(int spi) {
        return is(current, spi);
    }

    /// Forgets all keys.
    @Override
    public void close() {
        close(previous);
        close(current);
        close(next);
        previous = null;
        current = null;
        next = null;
    }

    private static void close(@Nullable Epoch epoch) {
        if (epoch != null) {
            epoch.keys.sealing.close();
            epoch.keys.opening.close();
        }
    }

    /// Returns the SPI of packets that leave; 0 when there are no keys.
    public int sealingSpi() {
        Epoch by = current;
        return by == null ? 0 : by.keys.sealingSpi;
    }

    /// Returns the age of the keys of packets that leave; 0 when there are none.
    public long ageNanos(long now) {
        Epoch by = current;
        return by == null ? 0 : now - by.bornNanos;
    }

    /// Returns how often keys have come into use.
    public int agreements() {
        return agreements;
    }

    /// Returns the number of packets that were sealed.
    public long sealed() {
        return sealed;
    }

    /// Returns the number of packets that had this verdict.
    public long count(PspVerdict verdict) {
        return verdicts[verdict.ordinal()];
    }

    /// Returns the number of packets that were not sealed, because there were no keys.
    public long unsealed() {
        return unsealed;
    }
}
