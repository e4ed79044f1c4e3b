package verbena.sim.script;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import verbena.transport.memory.ScatterList;
import verbena.transport.queue.Path;
import verbena.transport.queue.ReceiveQueue;
import verbena.transport.queue.ReceiveRequest;
import verbena.transport.queue.SendRequest;
import verbena.transport.rc.XrcQueue;
import verbena.verbs.spi.SendOperation;
import verbena.wire.ib.Feth;
import verbena.wire.notation.Names;

/// The `post` lines: puts requests into the queues as the verbs layer would.
final class Posts {
    private static final int WORD_BYTES = 8;

    private Posts() {}

    static void receive(Ends ends, End end, Words words) {
        ReceiveQueue queue = end.receives;
        if (words.accept("srq")) {
            XrcQueue named = end.host.xrcQueues.get(words.integer("number"));
            if (named == null) {
                throw words.wrong("there is no such shared receive queue");
            }
            queue = named.receives();
        }
        ReceiveRequest request = queue.claim();
        request.wrId = 0;
        request.scatter.clear();
        int bytes = -1;
        while (!words.isEmpty()) {
            switch (words.peek()) {
                case "wr" -> {
                    words.next("wr");
                    request.wrId = words.number("wr");
                }
                case "into" -> {
                    words.next("into");
                    list(ends, end, request.scatter, words);
                }
                default -> bytes = words.integer("bytes");
            }
        }
        if (request.scatter.count == 0 && bytes > 0) {
            whole(end.in(), bytes, request.scatter);
        }
        queue.publish();
    }

    static void send(Ends ends, End end, Words words) {
        String verb = words.next("operation");
        SendRequest request = end.sends.claim();
        request.begin(operation(verb, words), 0);
        request.srqNumber = End.SRQ;
        int bytes = 0;
        switch (request.operation) {
            case SEND -> bytes = words.integer("bytes");
            case WRITE -> {
                bytes = words.integer("bytes");
                words.expect("->");
                remote(ends, request, words);
            }
            case READ -> {
                bytes = words.integer("bytes");
                words.expect("<-");
                remote(ends, request, words);
            }
            case FETCH_ADD -> {
                bytes = WORD_BYTES;
                request.operand = words.number("add");
                words.expect("->");
                remote(ends, request, words);
            }
            case COMPARE_SWAP -> {
                bytes = WORD_BYTES;
                request.operand = words.number("compare");
                request.swap = words.number("swap");
                words.expect("->");
                remote(ends, request, words);
            }
            case ATOMIC_WRITE -> {
                request.operand = words.number("value");
                words.expect("->");
                remote(ends, request, words);
            }
            case FLUSH -> {
                request.flushBytes = words.integer("bytes");
                words.expect("->");
                remote(ends, request, words);
            }
            case LOCAL_INVALIDATE -> request.immediateOrKey = ends.key(words.next("key"), words);
            case BIND_WINDOW -> bind(ends, end, request, words);
            default -> throw words.wrong("no script can post " + request.operation);
        }
        options(ends, end, request, words);
        if (!request.operation.isLocal()) {
            data(end, request, bytes, words);
        }
        end.sends.publish();
    }

    private static SendOperation operation(String verb, Words words) {
        return switch (verb) {
            case "send" -> SendOperation.SEND;
            case "write" -> SendOperation.WRITE;
            case "read" -> SendOperation.READ;
            case "fetch-add" -> SendOperation.FETCH_ADD;
            case "cmp-swap" -> SendOperation.COMPARE_SWAP;
            case "atomic-write" -> SendOperation.ATOMIC_WRITE;
            case "flush" -> SendOperation.FLUSH;
            case "invalidate" -> SendOperation.LOCAL_INVALIDATE;
            case "bind" -> SendOperation.BIND_WINDOW;
            default -> throw words.wrong("no end can post \"" + verb.toLowerCase(Locale.ROOT) + "\"");
        };
    }

    private static void remote(Ends ends, SendRequest request, Words words) {
        String word = words.next("remote address");
        int plus = word.indexOf('+');
        Names.Region region = plus < 0 ? null : ends.region(word.substring(0, plus));
        if (region == null) {
            request.remoteAddress = new Words(word).number("remote address");
        } else {
            request.remoteAddress = region.virtualAddress() + new Words(word.substring(plus + 1)).number("offset");
            request.rkey = region.rkey();
        }
    }

    private static void bind(Ends ends, End end, SendRequest request, Words words) {
        BoundWindow window = end.host.windows.get(words.next("window"));
        if (window == null) {
            throw words.wrong("there is no such window");
        }
        words.expect("->");
        Place place = ends.place(end, words);
        request.windowAddress = place.address();
        request.windowRegion = place.area().region;
        words.expect("len");
        request.windowBytes = words.number("length");
        if (words.accept("access")) {
            request.windowAccess = Setup.access(words);
        } else {
            request.windowAccess = 0;
        }
        request.window = window.window;
        request.rkey = words.accept("same-key") ? window.window.key() : window.nextKey();
        request.rkey ^= words.accept("index-of-none") ? 0x1234_5600 : 0;
        boolean zeroBased = (request.windowAccess & verbena.verbs.Access.ZERO_BASED.bit()) != 0;
        window.virtualAddress = zeroBased ? 0 : request.windowAddress;
    }

    private static void options(Ends ends, End end, SendRequest request, Words words) {
        while (!words.isEmpty()) {
            String word = words.next("option");
            switch (word) {
                case "wr" -> request.wrId = words.number("wr");
                case "signaled" -> request.signaled = true;
                case "fence" -> request.fenced = true;
                case "solicited" -> request.solicited = true;
                case "inline" -> request.isInline = true;
                case "rkey" -> request.rkey = ends.key(words.next("key"), words);
                case "to" -> {
                    String to = words.next("end or address");
                    Path handle = end.handles.get(to);
                    request.path = handle == null ? ends.pathTo(end, to) : handle;
                    request.destinationQpn = handle == null ? ends.qpnOf(to) : end.peer.parameters.qpn;
                    request.qkey = PacketScript.QKEY;
                }
                case "srq" -> request.srqNumber = words.integer("number");
                case "qp" -> request.destinationQpn = words.integer("queue pair");
                case "qkey" -> request.qkey = words.integer("Q_Key");
                case "whole" -> request.flushSelectivity = Feth.WHOLE_REGION;
                case "global" -> request.flushPlacement |= Feth.GLOBAL_VISIBILITY;
                case "persistent" -> request.flushPlacement |= Feth.PERSISTENCE;
                case "imm" -> {
                    request.immediateOrKey = words.integer("immediate");
                    request.operation = request.operation == SendOperation.WRITE
                            ? SendOperation.WRITE_WITH_IMMEDIATE
                            : SendOperation.SEND_WITH_IMMEDIATE;
                }
                case "inv" -> {
                    request.immediateOrKey = ends.key(words.next("key"), words);
                    request.operation = SendOperation.SEND_WITH_INVALIDATE;
                }
                case "from", "into" -> list(ends, end, request.scatter, words);
                default -> throw words.wrong("\"" + word + "\" means nothing here");
            }
        }
    }

    private static void data(End end, SendRequest request, int bytes, Words words) {
        boolean reads = request.operation.needsResponse();
        if (request.scatter.count == 0 && bytes > 0) {
            whole(reads ? end.in() : end.out(), bytes, request.scatter);
        }
        if (request.scatter.bytes != bytes) {
            throw words.wrong("the entries have " + request.scatter.bytes + " bytes");
        }
        if (reads) {
            return;
        }
        byte[] data = gather(end, request.scatter);
        end.sent.put(request.wrId, data);
        end.lastSent = data;
        if (request.isInline) {
            request.inline.asByteBuffer().put(data);
            request.inlineBytes = bytes;
            request.scatter.clear();
        }
    }

    private static byte[] gather(End end, ScatterList list) {
        List<byte[]> parts = new ArrayList<>();
        for (int i = 0; i < list.count; i++) {
            for (Area area : end.host.areas.values()) {
                long offset = list.addresses[i] - area.region.iova();
                if (area.region.key() == list.lkeys[i]
                        && !area.isClosed()
                        && offset >= 0
                        && offset + list.lengths[i] <= area.region.length()) {
                    parts.add(area.bytes(offset, list.lengths[i]));
                }
            }
        }
        return End.concat(parts.toArray(byte[][]::new));
    }

    private static void whole(Area area, int bytes, ScatterList into) {
        into.add(area.region.key(), area.region.iova(), bytes);
    }

    /// `in+0 len 10 , in+100 len 20`
    private static void list(Ends ends, End end, ScatterList list, Words words) {
        do {
            Place place = ends.place(end, words);
            words.expect("len");
            list.add(place.area().region.key(), place.address(), words.integer("length"));
        } while (words.accept(","));
    }
}
