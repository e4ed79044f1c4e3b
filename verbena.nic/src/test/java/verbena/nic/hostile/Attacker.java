package verbena.nic.hostile;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.Arrays;
import java.util.Set;
import java.util.SplittableRandom;
import verbena.verbs.Access;
import verbena.verbs.Gid;
import verbena.verbs.cm.PortSpace;
import verbena.wire.BigEndian;
import verbena.wire.Frame;
import verbena.wire.ib.Aeth;
import verbena.wire.ib.AtomicAckEth;
import verbena.wire.ib.AtomicEth;
import verbena.wire.ib.Bth;
import verbena.wire.ib.Deth;
import verbena.wire.ib.Feth;
import verbena.wire.ib.Ieth;
import verbena.wire.ib.ImmDt;
import verbena.wire.ib.Malformed;
import verbena.wire.ib.Opcode;
import verbena.wire.ib.Packet;
import verbena.wire.ib.Psn;
import verbena.wire.ib.Reth;
import verbena.wire.ib.Syndrome;
import verbena.wire.ib.Transport;
import verbena.wire.mad.Mad;

/// Makes hostile packets from a seed: by the grammar with some values wrong, mutated, spliced, replayed,
/// reflected, or noise. It knows all that a connected peer knows and reads the answers, so that most of its
/// packets reach the queue pairs' protocol. Now and then it stops answering some queue pairs for a while, or
/// sends them nothing at all, so that their outstanding packets fill the window that they share. Allocates
/// nothing for a packet.
final class Attacker {
    /// A multicast group that some of the victim's queue pairs are attached to.
    static final Gid GROUP = Gid.parse("239.1.2.3");

    /// The first of the attacker's own queue pair numbers.
    static final int QPN_FIRST = 0x100;

    /// How many requests of a target are remembered, to be answered.
    private static final int ASKED = 8;
    private static final int HISTORY = 1_024;
    /// How many requests of a target may be outstanding.
    private static final int ENDS = 64;
    /// One packet in this many begins a silence, which lasts for this many packets at most.
    private static final int SILENCE_EVERY = 1 << 18;
    private static final int SILENCE_PACKETS = 100_000;
    private static final Opcode[] ALL = Opcode.values();

    // Bits of Target#given: the kinds of answer that a target has received in its present life.
    static final int GIVEN_ANSWER = 1 << 8;
    static final int GIVEN_READ_RESPONSE = 1 << 9;
    static final int GIVEN_ATOMIC_ACKNOWLEDGE = 1 << 10;
    static final int GIVEN_RNR_NAK = 1 << 11;
    static final int GIVEN_RESERVED = 1 << 12;

    /// The bit of a NAK with this syndrome, `0x60..0x64`; a later one is the last bit.
    static int given(int nak) {
        return 1 << Math.min(5, Syndrome.value(nak));
    }

    /// A queue pair under attack, as its peer knows it.
    static final class Target {
        final int index;
        final Transport transport;
        final int mtu;
        /// Its number.
        int qpn;
        /// The Q_Key of its datagrams.
        int qkey;

        /// The PSN that its responder expects, as far as the attacker can know.
        int expected;
        /// The MIDDLE opcode of an unfinished message of RC, or null.
        Opcode open;
        /// The bytes left of an unfinished WRITE.
        long left;

        private final int[] askedPsn = new int[ASKED];
        private final int[] askedPackets = new int[ASKED];
        private final long[] askedBytes = new long[ASKED];
        private final Opcode[] asked = new Opcode[ASKED];
        private int askedCount;
        int given;

        // What the target has sent in its present life, and the answers to it: PSNs, and -1 for none.
        private int first = -1;
        private int newest = -1;
        private int answered = -1;
        /// How many requests of its application were sent to their last packet, and that packet's PSN for each
        /// of the newest.
        private long ended;
        private final int[] ends = new int[ENDS];
        /// The key of the last READ request, which may be sent in pieces.
        private long readKey = -1;

        Target(int index, Transport transport, int mtu) {
            this.index = index;
            this.transport = transport;
            this.mtu = mtu;
        }

        int peerQpn() {
            return QPN_FIRST + index;
        }

        /// Begins a new life.
        void reborn(int psn) {
            expected = psn;
            open = null;
            askedCount = 0;
            given = 0;
            first = newest = answered = -1;
            ended = 0;
            readKey = -1;
        }

        /// Whether the request with this number, counted from 0 in this life, was sent to its last packet, and
        /// that packet or a later one was answered.
        boolean explainsSuccess(long number) {
            return number < ended && answered >= 0 && !Psn.isAfter(ends[(int) (number % ENDS)], answered);
        }

        /// Notes a packet of a request that was not sent before.
        private void follow(Frame frame, Opcode opcode, int psn, int packets) {
            if (newest >= 0 && !Psn.isAfter(psn, newest)) {
                return;
            }
            first = first < 0 ? psn : first;
            newest = Psn.add(psn, packets - 1);
            long key = opcode.rethOffset() < 0 ? -1 : Reth.rkey(frame.slot, frame.start + opcode.rethOffset());
            boolean goesOn = opcode.isRead() && key == readKey;
            readKey = opcode.isRead() ? key : -1;
            if (goesOn) {
                ends[(int) ((ended - 1) % ENDS)] = newest;
            } else if (opcode.endsMessage() && !isKeepAlive(frame, opcode)) {
                ends[(int) (ended++ % ENDS)] = newest;
            }
        }

        /// Whether it is a keep-alive: only that writes no bytes, at address 0, with key 0.
        private static boolean isKeepAlive(Frame frame, Opcode opcode) {
            int at = frame.start + opcode.rethOffset();
            return opcode == Opcode.RC_WRITE_ONLY
                    && Reth.virtualAddress(frame.slot, at) == 0
                    && Reth.rkey(frame.slot, at) == 0
                    && Reth.dmaLength(frame.slot, at) == 0;
        }

        /// Notes that the target was told of a packet's arrival; this means nothing for a packet that was not
        /// sent.
        private void answer(int psn) {
            boolean wasSent = newest >= 0 && ((psn - first) & 0xFF_FFFF) <= ((newest - first) & 0xFF_FFFF);
            if (wasSent && (answered < 0 || Psn.isAfter(psn, answered))) {
                answered = psn;
            }
        }
    }

    /// The port at which the victim accepts connections.
    static final int PORT = 7471;

    private static final long SERVICE_ID = PortSpace.TCP.serviceId(PORT);

    /// @param rights bits of [verbena.verbs.Access]; 0 for a key without rights here
    private record Key(int rkey, long address, long length, int rights) {}

    private final SplittableRandom chance;
    private final MemorySegment noise = Arena.ofAuto().allocate(16_384, 8);
    private final Frame[] history = Frame.allocate(Arena.ofAuto().allocate((long) HISTORY * Frame.SLOT_BYTES, 64));
    private int historyNext;
    private int historyCount;
    private final Frame[] overheard = Frame.allocate(Arena.ofAuto().allocate(64L * Frame.SLOT_BYTES, 64));
    private int overheardNext;

    private Target[] targets = new Target[0];
    private Key[] keys = new Key[0];
    private int[] closedQpns = {3};

    /// The communication ID that the victim gave to its last connection.
    private int commId;

    /// How many packets were made.
    long made;
    /// Until this packet is made, targets with these bits are not answered.
    private long silentUntil;
    private int silentTo;
    /// Whether these targets get no other packets either.
    private boolean silentWholly;

    private final Gid self;
    private final Gid victim;

    /// @param self the address that it sends from
    /// @param victim the address that it sends to
    Attacker(long seed, Gid self, Gid victim) {
        this.self = self;
        this.victim = victim;
        chance = new SplittableRandom(seed);
        for (long at = 0; at < noise.byteSize(); at += Long.BYTES) {
            noise.set(ValueLayout.JAVA_LONG, at, chance.nextLong() & 0x7F7F_7F7F_7F7F_7F7FL);
        }
    }

    void aimAt(Target... all) {
        targets = all;
    }

    /// Gives it a key, good or not, with the range and the rights of the key.
    void knows(int rkey, long address, long length, Set<Access> rights) {
        keys = Arrays.copyOf(keys, keys.length + 1);
        keys[keys.length - 1] = new Key(rkey, address, length, Access.bits(rights));
    }

    /// Replaces the last key that it was given.
    void knowsInstead(int rkey) {
        Key old = keys[keys.length - 1];
        keys[keys.length - 1] = new Key(rkey, old.address, old.length, old.rights);
    }

    void knowsClosed(int... qpns) {
        closedQpns = qpns;
    }

    // ---- making

    /// Makes the next packet.
    void next(Frame frame) {
        made++;
        if (chance.nextInt(64) == 0) {
            management(frame);
            return; // never mixed with other packets: its bytes would look like a leak
        }
        if (chance.nextInt(SILENCE_EVERY) == 0) {
            silentUntil = made + chance.nextInt(SILENCE_PACKETS);
            silentTo = chance.nextInt(4) == 0 ? -1 : chance.nextInt();
            silentWholly = silentTo != -1 && chance.nextInt(2) == 0;
        }
        Target target = targets[chance.nextInt(targets.length)];
        int kind = chance.nextInt(100);
        if (saysNothing()) {
            while (isSilentTo(target)) {
                target = targets[chance.nextInt(targets.length)];
            }
            kind %= 80; // a repeated packet may be for any target
        }
        if (kind < 80 || historyCount < HISTORY) {
            write(frame, target, kind);
        } else if (kind < 88) {
            frame.copyFrom(history[chance.nextInt(HISTORY)]); // a replay
        } else if (kind < 93) {
            splice(frame);
        } else if (kind < 97) {
            frame.copyFrom(overheard[chance.nextInt(overheard.length)]); // the victim's own packet, sent back
            if (frame.length >= Packet.BYTES_MIN && chance.nextInt(4) > 0) {
                Bth.setDestinationQp(frame.slot, frame.start, target.qpn);
            }
            address(frame);
        } else {
            noise(frame);
        }
        if (kind % 16 == 0) {
            mutate(frame);
        }
        if (chance.nextInt(4) == 0) {
            history[historyNext].copyFrom(frame);
            historyNext = (historyNext + 1) % HISTORY;
            historyCount = Math.min(HISTORY, historyCount + 1);
        }
        noteAnswer(frame);
    }

    private void write(Frame frame, Target target, int kind) {
        if (target.transport == Transport.RC && kind >= 55 && !isSilentTo(target)) {
            answer(frame, target);
        } else {
            request(frame, target);
        }
        if (chance.nextInt(32) == 0 && !saysNothing()) {
            Bth.setDestinationQp(frame.slot, frame.start, otherQpn());
        }
        if (chance.nextInt(64) == 0) {
            Bth.setPkey(frame.slot, frame.start, chance.nextInt(2) == 0 ? 0x7FFF : chance.nextInt());
        }
        address(frame);
        if (target.transport == Transport.UD && chance.nextInt(4) == 0) {
            Bth.setDestinationQp(frame.slot, frame.start, Bth.MULTICAST_QP);
            frame.destinationHigh = GROUP.high();
            frame.destinationLow = GROUP.low() + (chance.nextInt(16) == 0 ? 1 : 0);
        }
    }

    private boolean isSilentTo(Target target) {
        return made < silentUntil && (silentTo & 1 << target.index) != 0;
    }

    private boolean saysNothing() {
        return silentWholly && made < silentUntil;
    }

    private int otherQpn() {
        return switch (chance.nextInt(5)) {
            case 0 -> targets[chance.nextInt(targets.length)].qpn;
            case 1 -> chance.nextInt(3);
            case 2 -> Bth.MULTICAST_QP;
            case 3 -> closedQpns[chance.nextInt(closedQpns.length)];
            default -> chance.nextInt() & 0xFF_FFFF;
        };
    }

    private void address(Frame frame) {
        frame.sourceHigh = self.high();
        frame.sourceLow = self.low() + (chance.nextInt(32) == 0 ? 1 : 0);
        frame.destinationHigh = victim.high();
        frame.destinationLow = victim.low() + (chance.nextInt(128) == 0 ? 1 : 0);
        frame.sourcePort = 4_791;
        frame.icrcValid = chance.nextInt(32) != 0;
    }

    // ---- requests

    private void request(Frame frame, Target target) {
        boolean right = chance.nextInt(12) > 0;
        Opcode opcode = chooseRequest(target, right);
        int psn = requestPsn(target);
        boolean counts = psn == target.expected;
        int bytes = payloadBytes(opcode, target, right);
        long total = opcode.isRead()
                ? chance.nextInt(2 * target.mtu + 2)
                : opcode.endsMessage() ? bytes : target.mtu + 1L + chance.nextInt(2 * target.mtu);
        if (!right && chance.nextInt(4) == 0) {
            total = length();
        }
        Key key = right ? keyFor(opcode, target) : keys[chance.nextInt(keys.length)];
        long address = right || chance.nextInt(2) == 0 ? inside(key, total, opcode) : anywhere(key);
        int rkey = right || chance.nextInt(4) > 0 ? key.rkey : key.rkey ^ 1 << chance.nextInt(32);
        begin(frame, opcode, bytes, target, psn);
        writeHeaders(frame, opcode, address, rkey, total, target);
        if (counts) {
            follow(opcode, target, bytes, total);
        }
    }

    private Key keyFor(Opcode opcode, Target target) {
        if (target.index == 0 && opcode.isWrite() && chance.nextInt(2) == 0) {
            return keys[keys.length - 1]; // the window that only this target may use
        }
        int right = right(opcode);
        Key key = keys[chance.nextInt(keys.length)];
        while ((key.rights & right) != right) {
            key = keys[chance.nextInt(keys.length)];
        }
        return key;
    }

    private static int right(Opcode opcode) {
        if (opcode.isWrite() || opcode.isAtomicWrite()) {
            return Access.REMOTE_WRITE.bit();
        }
        if (opcode.isRead()) {
            return Access.REMOTE_READ.bit();
        }
        if (opcode.isAtomic()) {
            return Access.REMOTE_ATOMIC.bit();
        }
        return opcode.isFlush() ? Access.FLUSH_GLOBAL.bit() : 0;
    }

    /// Notes what the responder will expect if it accepts this request.
    private static void follow(Opcode opcode, Target target, int bytes, long total) {
        target.expected = opcode.isRead()
                ? Psn.add(target.expected, Math.min(Psn.HALF, Psn.count(total, target.mtu)))
                : Psn.next(target.expected);
        if (opcode.endsMessage() || target.transport == Transport.UD) {
            target.open = null;
        } else if (opcode.startsMessage()) {
            target.open = opcode.isSend() ? Opcode.RC_SEND_MIDDLE : Opcode.RC_WRITE_MIDDLE;
            target.left = total - bytes;
        } else {
            target.left -= bytes;
        }
    }

    private int requestPsn(Target target) {
        int r = chance.nextInt(32);
        return switch (r) {
            case 0 -> Psn.add(target.expected, 1 + chance.nextInt(3));
            case 1 -> Psn.add(target.expected, 1 + chance.nextInt(chance.nextInt(8) == 0 ? 140 : 3));
            case 2, 3, 4 -> Psn.add(target.expected, -1 - chance.nextInt(40));
            case 5 -> chance.nextInt() & Psn.MASK;
            default -> target.expected;
        };
    }

    private Opcode chooseRequest(Target target, boolean right) {
        if (!right && chance.nextInt(4) == 0) {
            return ALL[chance.nextInt(ALL.length)];
        }
        while (true) {
            Opcode opcode = target.open != null && (right || chance.nextInt(2) == 0) ? goOn(target) : start(right);
            Opcode there =
                    Opcode.of(target.transport.prefix() | opcode.operation().code());
            if (there != null && there.operation() == opcode.operation()) {
                return there;
            }
            if (!right) {
                return opcode; // an opcode of another service than the queue pair's
            }
        }
    }

    private Opcode goOn(Target target) {
        int r = chance.nextInt(8);
        if (target.open.isSend()) {
            return switch (r) {
                case 0, 1 -> Opcode.RC_SEND_MIDDLE;
                case 2 -> Opcode.RC_SEND_LAST_IMMEDIATE;
                case 3 -> target.index == 0 ? Opcode.RC_SEND_LAST_INVALIDATE : Opcode.RC_SEND_LAST;
                default -> Opcode.RC_SEND_LAST;
            };
        }
        if (target.left > target.mtu) {
            return Opcode.RC_WRITE_MIDDLE;
        }
        return r == 1 ? Opcode.RC_WRITE_LAST_IMMEDIATE : Opcode.RC_WRITE_LAST;
    }

    private Opcode start(boolean right) {
        return switch (chance.nextInt(right ? 20 : 21)) {
            case 0, 1 -> Opcode.RC_SEND_ONLY;
            case 2 -> Opcode.RC_SEND_ONLY_IMMEDIATE;
            case 3 -> Opcode.RC_SEND_FIRST;
            case 4, 5, 6, 7 -> Opcode.RC_WRITE_ONLY;
            case 8 -> Opcode.RC_WRITE_ONLY_IMMEDIATE;
            case 9, 10, 11 -> Opcode.RC_WRITE_FIRST;
            case 12, 13 -> Opcode.RC_READ_REQUEST;
            case 14, 15 -> Opcode.RC_COMPARE_SWAP;
            case 16, 17 -> Opcode.RC_FETCH_ADD;
            case 18 -> Opcode.RC_FLUSH;
            case 19 -> Opcode.RC_ATOMIC_WRITE;
            default -> Opcode.RC_SEND_ONLY_INVALIDATE;
        };
    }

    private int payloadBytes(Opcode opcode, Target target, boolean right) {
        if (!right && chance.nextInt(8) == 0) {
            return switch (chance.nextInt(5)) {
                case 0 -> 0;
                case 1 -> target.mtu - 1;
                case 2 -> target.mtu + 1;
                case 3 -> 4_097;
                default -> chance.nextInt(4_097);
            };
        }
        return switch (opcode.payload()) {
            case NONE -> 0;
            case EIGHT -> 8;
            case SIXTEEN -> 16;
            case FULL_MTU -> target.mtu;
            case ONE_TO_MTU ->
                right && opcode.isWrite() && target.left > 0 && target.left <= target.mtu
                        ? (int) target.left
                        : 1 + chance.nextInt(target.mtu);
            case ZERO_TO_MTU -> chance.nextInt(4) > 0 ? chance.nextInt(64) : chance.nextInt(target.mtu + 1);
        };
    }

    private long length() {
        return switch (chance.nextInt(6)) {
            case 0 -> 0;
            case 1 -> 1L << 31;
            case 2 -> (1L << 31) + 1;
            case 3 -> 0xFFFF_FFFFL;
            case 4 -> chance.nextInt(100_000);
            default -> chance.nextInt() & 0xFFFF_FFFFL;
        };
    }

    private long inside(Key key, long bytes, Opcode opcode) {
        long room = key.length - (opcode.isAtomic() || opcode.isAtomicWrite() ? 2 * Long.BYTES : bytes);
        long skip = room <= 0 ? 0 : chance.nextLong(room + 1);
        return opcode.isAtomic() || opcode.isAtomicWrite() ? (key.address + skip + 7) & ~7 : key.address + skip;
    }

    private long anywhere(Key key) {
        return switch (chance.nextInt(8)) {
            case 0 -> key.address - 1 - chance.nextInt(64);
            case 1 -> key.address + key.length;
            case 2 -> key.address + key.length - 1 - chance.nextInt(64);
            case 3 -> -1 - chance.nextInt(64);
            case 4 -> 0;
            case 5 -> chance.nextLong();
            case 6 -> key.address + (1L << 32);
            default -> key.address + chance.nextLong(2 * key.length + 2);
        };
    }

    private void begin(Frame frame, Opcode opcode, int payloadBytes, Target target, int psn) {
        int pad = Packet.padCount(payloadBytes);
        int flags = chance.nextInt();
        Bth.write(frame.slot, frame.start, opcode, (flags & 1) != 0, pad, 0xFFFF, target.qpn, (flags & 6) != 0, psn);
        // Fills headers that are not written below, the payload and its pad.
        MemorySegment.copy(
                noise,
                chance.nextInt(8_192),
                frame.slot,
                frame.start + Bth.BYTES,
                opcode.headerBytes() - Bth.BYTES + payloadBytes + pad);
        frame.length = Packet.length(opcode, payloadBytes);
        if ((flags & 0x3F0) == 0x3F0) {
            Bth.setPadCount(frame.slot, frame.start, chance.nextInt(4));
        }
    }

    private void writeHeaders(Frame frame, Opcode opcode, long address, int rkey, long total, Target target) {
        MemorySegment slot = frame.slot;
        if (opcode.rethOffset() >= 0) {
            Reth.write(slot, Frame.HEADROOM + opcode.rethOffset(), address, rkey, total);
        }
        if (opcode.atomicEthOffset() >= 0) {
            AtomicEth.write(
                    slot,
                    Frame.HEADROOM + opcode.atomicEthOffset(),
                    address,
                    rkey,
                    chance.nextLong(),
                    chance.nextInt(3));
        }
        if (opcode.iethOffset() >= 0) {
            Ieth.write(slot, Frame.HEADROOM + opcode.iethOffset(), rkey);
        }
        if (opcode.immediateOffset() >= 0) {
            ImmDt.write(slot, Frame.HEADROOM + opcode.immediateOffset(), rkey);
        }
        if (opcode.dethOffset() >= 0) {
            int qkey = chance.nextInt(8) == 0 ? chance.nextInt() : target.qkey;
            Deth.write(slot, Frame.HEADROOM + opcode.dethOffset(), qkey, target.peerQpn());
        }
        if (opcode.fethOffset() >= 0) {
            boolean usual = chance.nextInt(8) > 0;
            Feth.write(
                    slot,
                    Frame.HEADROOM + opcode.fethOffset(),
                    usual ? chance.nextInt(2) : chance.nextInt(4),
                    usual ? Feth.GLOBAL_VISIBILITY : chance.nextInt(16));
        }
    }

    // ---- answers

    private void answer(Frame frame, Target target) {
        boolean known = target.askedCount > 0;
        int place = known ? chance.nextInt(target.askedCount) : 0;
        int first = known ? target.askedPsn[place] : target.expected;
        int packets = known ? target.askedPackets[place] : 1;
        long total = known ? target.askedBytes[place] : 0;
        Opcode asked = known ? target.asked[place] : Opcode.RC_SEND_ONLY;
        int index = chance.nextInt(8) > 0 ? chance.nextInt(packets) : chance.nextInt(-3, packets + 3);
        int psn = chance.nextInt(32) == 0 ? chance.nextInt() & Psn.MASK : Psn.add(first, index);
        if (target.newest >= 0 && chance.nextInt(16) == 0) {
            psn = Psn.add(target.newest, 1 + chance.nextInt(8)); // a request that may be posted but was not sent
        }
        Opcode opcode = chooseAnswer(asked, index, packets);
        int bytes = 0;
        if (opcode.isReadResponse()) {
            long right = Math.clamp(total - (long) index * target.mtu, 0, target.mtu);
            bytes = chance.nextInt(16) == 0 ? chance.nextInt(target.mtu + 2) : (int) right;
        } else if (opcode == Opcode.SELECTIVE_ACK) {
            bytes = opcode.payload().bytesMax();
        }
        begin(frame, opcode, bytes, target, psn);
        if (opcode.aethOffset() >= 0) {
            Aeth.write(frame.slot, frame.start + opcode.aethOffset(), chooseSyndrome(opcode), chance.nextInt());
        }
        if (opcode.atomicAckEthOffset() >= 0) {
            AtomicAckEth.write(frame.slot, frame.start + opcode.atomicAckEthOffset(), chance.nextLong());
        }
    }

    private Opcode chooseAnswer(Opcode asked, int index, int packets) {
        int r = chance.nextInt(16);
        if (r == 0) {
            return ALL[Opcode.RC_READ_RESPONSE_FIRST.ordinal() + chance.nextInt(6)];
        }
        if (r == 1) {
            return Opcode.SELECTIVE_ACK;
        }
        if (r < 5) {
            return Opcode.RC_ACKNOWLEDGE;
        }
        if (asked.isRead()) {
            boolean last = index == packets - 1;
            return index <= 0
                    ? (last ? Opcode.RC_READ_RESPONSE_ONLY : Opcode.RC_READ_RESPONSE_FIRST)
                    : (last ? Opcode.RC_READ_RESPONSE_LAST : Opcode.RC_READ_RESPONSE_MIDDLE);
        }
        return asked.isAtomic() ? Opcode.RC_ATOMIC_ACKNOWLEDGE : Opcode.RC_ACKNOWLEDGE;
    }

    private int chooseSyndrome(Opcode opcode) {
        int r = chance.nextInt(64);
        if (opcode != Opcode.RC_ACKNOWLEDGE && r > 1) {
            return Syndrome.ACK;
        }
        return switch (r) {
            case 0 -> chance.nextInt(256);
            case 1 -> Syndrome.NAK_SEQUENCE + chance.nextInt(32);
            case 2 -> Syndrome.NAK_INVALID_REQUEST + chance.nextInt(4);
            case 3, 4, 5, 6 -> Syndrome.rnrNak(chance.nextInt(32));
            case 7, 8, 9, 10, 11, 12 -> Syndrome.NAK_SEQUENCE;
            default -> chance.nextInt(32);
        };
    }

    /// Notes what this packet may tell the target.
    private void noteAnswer(Frame frame) {
        if (!frame.icrcValid || Packet.check(frame) != Malformed.OK) {
            return;
        }
        Opcode opcode = Packet.opcode(frame);
        if (!Transport.RC.takes(opcode) || !opcode.isResponse()) {
            return;
        }
        int qpn = Bth.destinationQp(frame.slot, frame.start);
        for (Target target : targets) {
            if (target.qpn == qpn) {
                target.given |= kindOf(frame, opcode);
                target.answer(Bth.psn(frame.slot, frame.start));
            }
        }
    }

    private static int kindOf(Frame frame, Opcode opcode) {
        int syndrome =
                opcode.aethOffset() < 0 ? Syndrome.ACK : Aeth.syndrome(frame.slot, frame.start + opcode.aethOffset());
        int kind = GIVEN_ANSWER
                | (opcode.isReadResponse() ? GIVEN_READ_RESPONSE : 0)
                | (opcode == Opcode.RC_ATOMIC_ACKNOWLEDGE ? GIVEN_ATOMIC_ACKNOWLEDGE : 0);
        return switch (Syndrome.kind(syndrome)) {
            case ACK -> kind;
            case RNR_NAK -> kind | GIVEN_RNR_NAK;
            case NAK -> kind | given(syndrome);
            case RESERVED -> kind | GIVEN_RESERVED;
        };
    }

    // ---- queue pair 1

    /// Makes a message to the communication manager, or nearly one.
    private void management(Frame frame) {
        MemorySegment slot = frame.slot;
        Opcode opcode = usually() ? Opcode.UD_SEND_ONLY : Opcode.UD_SEND_ONLY_IMMEDIATE;
        int bytes = usually() ? Mad.BYTES : 4 * chance.nextInt(100);
        Bth.write(slot, Frame.HEADROOM, opcode, false, 0, usually() ? 0xFFFF : chance.nextInt(), Mad.QPN, false, 0);
        Deth.write(
                slot,
                Frame.HEADROOM + opcode.dethOffset(),
                usually() ? Mad.QKEY : chance.nextInt(),
                usually() ? Mad.QPN : chance.nextInt(9));
        frame.length = Packet.length(opcode, bytes);
        long mad = Packet.payloadOffset(frame, opcode);
        MemorySegment.copy(noise, chance.nextInt(8_192), slot, mad, Math.max(bytes, Mad.BYTES));
        BigEndian.put32(slot, mad, usually() ? 0x0107_0203 : chance.nextInt()); // versions, class, method
        BigEndian.put16(slot, mad + 16, 0x10 + chance.nextInt(12)); // the attribute: which message
        long body = mad + Mad.HEADER_BYTES;
        BigEndian.put32(slot, body, chance.nextInt(32));
        if (chance.nextBoolean()) {
            BigEndian.put32(slot, body + 4, commId);
        }
        if (chance.nextBoolean()) { // fields that a REQ needs to be accepted
            BigEndian.put64(slot, body + 8, SERVICE_ID);
            BigEndian.put8(slot, body + 43, chance.nextInt(4));
            BigEndian.put8(slot, body + 50, chance.nextInt(8) << 4);
            put(slot, body + 56, self);
            put(slot, body + 72, victim);
            slot.asSlice(body + 96, 44).fill((byte) 0);
        }
        address(frame);
        if (!usually()) {
            mutate(frame);
        }
    }

    private boolean usually() {
        return chance.nextInt(16) != 0;
    }

    private static void put(MemorySegment slot, long at, Gid gid) {
        BigEndian.put64(slot, at, gid.high());
        BigEndian.put64(slot, at + Long.BYTES, gid.low());
    }

    // ---- without grammar

    private void splice(Frame frame) {
        frame.copyFrom(history[chance.nextInt(HISTORY)]);
        Frame other = history[chance.nextInt(HISTORY)];
        int head = Math.min(frame.length, 4 * (1 + chance.nextInt(12)));
        int tail = Math.max(0, other.length - 4 * chance.nextInt(12));
        int from = other.length - tail;
        tail = Math.min(tail, Frame.PACKET_MAX - head);
        MemorySegment.copy(other.slot, other.start + (long) from, frame.slot, frame.start + (long) head, tail);
        frame.length = head + tail;
    }

    private void noise(Frame frame) {
        int bytes = chance.nextInt(8) > 0 ? chance.nextInt(96) : chance.nextInt(Frame.PACKET_MAX + 1);
        for (int at = 0; at < bytes; at += Long.BYTES) {
            frame.slot.set(ValueLayout.JAVA_LONG_UNALIGNED, frame.start + (long) at, chance.nextLong());
        }
        frame.length = bytes;
        address(frame);
    }

    private void mutate(Frame frame) {
        if (frame.length == 0) {
            return;
        }
        switch (chance.nextInt(8)) {
            case 0 -> frame.length = chance.nextInt(frame.length + 1);
            case 1 -> frame.length = Math.min(Frame.PACKET_MAX, frame.length + chance.nextInt(64));
            case 2 -> frame.length = frame.length & ~3;
            default -> {
                for (int n = chance.nextInt(4); n >= 0; n--) {
                    // Only headers: a peer's bytes in readable memory would look like a leak.
                    int at = chance.nextInt(Math.min(frame.length, Bth.BYTES + 16));
                    int was = BigEndian.u8(frame.slot, frame.start + (long) at);
                    BigEndian.put8(frame.slot, frame.start + (long) at, was ^ 1 << chance.nextInt(8));
                }
            }
        }
    }

    // ---- listening

    /// Reads a packet that the victim has sent.
    void learn(Frame frame) {
        if (Bth.destinationQp(frame.slot, frame.start) == Mad.QPN) {
            long body = (long) Packet.payloadOffset(frame, Packet.opcode(frame)) + Mad.HEADER_BYTES;
            commId = (int) BigEndian.u32(frame.slot, body);
            return;
        }
        overheard[overheardNext].copyFrom(frame);
        overheardNext = (overheardNext + 1) % overheard.length;
        Opcode opcode = Packet.opcode(frame);
        int index = Bth.destinationQp(frame.slot, frame.start) - QPN_FIRST;
        if (index < 0 || index >= targets.length) {
            return; // a datagram
        }
        Target target = targets[index];
        int psn = Bth.psn(frame.slot, frame.start);
        if (opcode.isReadResponse()) {
            checkNoLeak(frame, opcode);
        } else if (opcode == Opcode.RC_ACKNOWLEDGE) {
            int syndrome = Aeth.syndrome(frame.slot, frame.start + opcode.aethOffset());
            target.expected = Syndrome.isAck(syndrome) ? Psn.next(psn) : psn;
            if (!Syndrome.isAck(syndrome)) {
                target.open = null;
            }
        } else if (opcode == Opcode.SELECTIVE_ACK) {
            target.expected = psn;
            target.open = null;
        } else if (opcode.isRequest()) {
            int place = target.askedCount < ASKED ? target.askedCount++ : chance.nextInt(ASKED);
            long bytes = opcode.isRead() ? Reth.dmaLength(frame.slot, frame.start + opcode.rethOffset()) : 0;
            target.askedPsn[place] = psn;
            target.asked[place] = opcode;
            target.askedBytes[place] = bytes;
            target.askedPackets[place] = Psn.count(bytes, target.mtu);
            if (target.transport == Transport.RC) {
                target.follow(frame, opcode, psn, target.askedPackets[place]);
            }
        }
    }

    private static void checkNoLeak(Frame frame, Opcode opcode) {
        long at = Packet.payloadOffset(frame, opcode);
        long end = at + Packet.payloadBytes(frame, opcode);
        for (; at + Long.BYTES <= end; at += Long.BYTES) {
            if ((frame.slot.get(ValueLayout.JAVA_LONG_UNALIGNED, at) & 0x8080_8080_8080_8080L) != 0) {
                throw new AssertionError("a READ was answered with bytes that no peer may read");
            }
        }
        for (; at < end; at++) {
            if (frame.slot.get(ValueLayout.JAVA_BYTE, at) < 0) {
                throw new AssertionError("a READ was answered with a byte that no peer may read");
            }
        }
    }
}
