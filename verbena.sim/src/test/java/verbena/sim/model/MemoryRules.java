package verbena.sim.model;

import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import verbena.nic.engine.OnDemandMemory;
import verbena.sim.model.Refusal.Reasons;
import verbena.verbs.Access;
import verbena.verbs.UnsupportedException;

/// Which requests may access which memory (IBTA 10.6).
final class MemoryRules {
    private static final Set<Access> REMOTE = EnumSet.of(Access.REMOTE_READ, Access.REMOTE_WRITE, Access.REMOTE_ATOMIC);
    private static final Set<Access> CHANGING = EnumSet.of(Access.REMOTE_WRITE, Access.REMOTE_ATOMIC);

    private MemoryRules() {}

    /// Where bytes lie once the rules have allowed to touch them.
    record Place(ModelMemory memory, int offset) {}

    /// `address` to `address + bytes` lies within `from` to `from + length`, as numbers that never wrap around.
    static boolean isInside(long address, long bytes, long from, long length) {
        BigInteger first = unsigned(address);
        BigInteger start = unsigned(from);
        return start.compareTo(first) <= 0
                && first.add(BigInteger.valueOf(bytes)).compareTo(start.add(BigInteger.valueOf(length))) <= 0;
    }

    /// All of it lies before 2^64.
    static boolean isAddressable(long from, long length) {
        return unsigned(from).add(BigInteger.valueOf(length)).bitLength() <= Long.SIZE
                || unsigned(from).add(BigInteger.valueOf(length)).equals(BigInteger.ONE.shiftLeft(Long.SIZE));
    }

    private static BigInteger unsigned(long value) {
        return new BigInteger(Long.toUnsignedString(value));
    }

    /// Rights of a region (IBTA 10.6.3.1, ibv_reg_mr(3)): what a peer may change, the owner may.
    static List<Refusal> mayGrant(Set<Access> access) {
        return new Reasons()
                .when(
                        containsAny(access, CHANGING) && !access.contains(Access.LOCAL_WRITE),
                        IllegalArgumentException.class,
                        "LOCAL_WRITE")
                .when(
                        access.contains(Access.ON_DEMAND) && !OnDemandMemory.isThere(),
                        UnsupportedException.class,
                        "ON_DEMAND_PAGING")
                .list();
    }

    /// A peer's request through `queuePair`: the place, or nothing when it is refused. Bytes are at least 1,
    /// because a request for none is not asked (C9-88).
    static @Nullable Place remote(ModelQueuePair queuePair, int rkey, long address, long bytes, Set<Access> rights) {
        Keyed keyed = queuePair.device().keyed(rkey);
        if (keyed == null || keyed.domain() != queuePair.remoteDomain()) {
            return null;
        }
        return switch (keyed) {
            case ModelRegion region ->
                region.access().containsAll(rights) && region.contains(address, bytes)
                        ? new Place(region.memory(), region.offsetOf(address))
                        : null;
            case ModelWindow window -> {
                if (!window.isBound()
                        || (window.type() == 2 && window.binding().queuePair() != queuePair)
                        || !window.binding().access().containsAll(rights)) {
                    yield null;
                }
                ModelWindow.Binding bound = window.binding();
                boolean zeroBased = bound.access().contains(Access.ZERO_BASED);
                if (!isInside(address, bytes, zeroBased ? 0 : bound.address(), bound.length())) {
                    yield null;
                }
                long inRegion = zeroBased ? bound.address() + address : address;
                yield new Place(bound.region().memory(), bound.region().offsetOf(inRegion));
            }
        };
    }

    /// FLUSH (IBTA A19): rights, and of a range that it is inside. One of the whole region names no range.
    static boolean flush(ModelQueuePair queuePair, ModelSend request) {
        if (request.isWhole() && queuePair.device().keyed(request.rkey()) instanceof ModelRegion region) {
            return region.domain() == queuePair.remoteDomain()
                    && region.access().containsAll(request.access());
        }
        return remote(queuePair, request.rkey(), request.remoteAddress(), request.length(), request.access()) != null;
    }

    /// A scatter/gather entry of a request's own (IBTA 10.6.3.3). Reading is always allowed.
    static @Nullable Place local(ModelDomain domain, int lkey, long address, long bytes, boolean write) {
        return domain.device().keyed(lkey) instanceof ModelRegion region
                        && region.domain() == domain
                        && (!write || region.access().contains(Access.LOCAL_WRITE))
                        && region.contains(address, bytes)
                ? new Place(region.memory(), region.offsetOf(address))
                : null;
    }

    /// May all entries be used? An entry of no bytes is not looked at.
    static boolean local(ModelDomain domain, List<Piece> pieces, boolean write) {
        return pieces.stream()
                .allMatch(piece -> piece.length() == 0
                        || local(domain, piece.lkey(), piece.address(), piece.length(), write) != null);
    }

    /// The bytes of a list that may be used.
    static byte[] gather(ModelDomain domain, List<Piece> pieces) {
        var all = new ByteArrayOutputStream();
        for (Piece piece : pieces) {
            Place place = local(domain, piece.lkey(), piece.address(), piece.length(), false);
            if (place != null) {
                all.writeBytes(place.memory().read(place.offset(), piece.length()));
            }
        }
        return all.toByteArray();
    }

    /// Puts bytes into a list, from position `position` of it on; false when an entry that they reach cannot be
    /// used.
    static boolean scatter(ModelDomain domain, List<Piece> pieces, int position, byte[] data) {
        int begin = 0; // of the entry, in the list
        int done = 0;
        for (Piece piece : pieces) {
            int skip = position + done - begin;
            int count = Math.min(data.length - done, piece.length() - skip);
            if (count > 0) {
                Place place = local(domain, piece.lkey(), piece.address() + skip, count, true);
                if (place == null) {
                    return false;
                }
                place.memory().write(place.offset(), Arrays.copyOfRange(data, done, done + count));
                done += count;
            }
            begin += piece.length();
        }
        return done == data.length;
    }

    /// A receive has failed: anything may be in its buffers, where they are its own.
    static void leaveUndefined(ModelDomain domain, List<Piece> pieces) {
        for (Piece piece : pieces) {
            for (int i = 0; i < piece.length(); i++) {
                Place place = local(domain, piece.lkey(), piece.address() + i, 1, true);
                if (place != null) {
                    place.memory().leaveUndefined(place.offset(), 1);
                }
            }
        }
    }

    /// Eight bytes as the host's number.
    static long number(byte[] bytes) {
        return ByteBuffer.wrap(bytes).order(ByteOrder.nativeOrder()).getLong();
    }

    static byte[] bytes(long number) {
        return ByteBuffer.allocate(Long.BYTES)
                .order(ByteOrder.nativeOrder())
                .putLong(number)
                .array();
    }

    /// The bind request (IBTA 10.6.7.2, ibv_bind_mw(3)); false when it fails.
    static boolean bind(ModelQueuePair queuePair, ModelSend request) {
        ModelWindow window = request.window();
        ModelRegion region = request.region();
        Set<Access> access = request.access();
        if (window.isClosed() || window.domain() != queuePair.domain()) {
            return false;
        }
        int key = (window.key() & ~0xFF) | (request.rkey() & 0xFF); // the index is the device's (IBTA 10.6.7.2)
        boolean unbinds = request.length() == 0;
        if (window.type() == 2 && (window.isBound() || unbinds)) {
            return false; // only a free window (o10-37.2.30), only to something (o10-37.2.40)
        }
        if (unbinds) {
            window.bindNothing(key);
            return true;
        }
        boolean allowed = !region.isClosed()
                && region.domain() == queuePair.domain()
                && region.access().contains(Access.MW_BIND) // C10-73
                && (!containsAny(access, CHANGING) || region.access().contains(Access.LOCAL_WRITE)) // C10-74
                && !region.access().contains(Access.ZERO_BASED)
                && !(window.type() == 1 && access.contains(Access.ZERO_BASED)) // o10-36.2.2
                && region.contains(request.remoteAddress(), request.length()); // C10-75
        if (allowed) {
            window.bind(
                    new ModelWindow.Binding(region, request.remoteAddress(), request.length(), access, queuePair), key);
        }
        return allowed;
    }

    /// Local invalidate, and SEND with invalidate (IBTA 10.6.7.4): a bound window of type 2, by the queue pair that
    /// bound it. False when it fails.
    static boolean invalidate(ModelQueuePair queuePair, int rkey) {
        if (queuePair.device().keyed(rkey) instanceof ModelWindow window
                && window.domain() == queuePair.domain()
                && window.type() == 2
                && window.isBound()
                && window.binding().queuePair() == queuePair) {
            window.unbind();
            return true;
        }
        return false;
    }

    /// What may be asked for when a window is bound.
    static boolean areWindowRights(Set<Access> access) {
        return access.stream().allMatch(right -> REMOTE.contains(right) || right == Access.ZERO_BASED);
    }

    private static boolean containsAny(Set<Access> access, Set<Access> rights) {
        return access.stream().anyMatch(rights::contains);
    }
}
