package verbena.nio;

import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.LinkedHashMap;
import java.util.Map;
import verbena.nio.Probes.Call;
import verbena.nio.Probes.State;

/// The states of a [Selector] with a key, and the calls of both.
final class SelectorProbes {
    private SelectorProbes() {}

    static Map<String, State> states() {
        Map<String, State> table = new LinkedHashMap<>();
        table.put("empty", w -> register(w.open().unblocked(), 0));
        table.put("not connected", w -> register(w.open().unblocked(), SelectionKey.OP_READ | SelectionKey.OP_WRITE));
        table.put("connecting", w -> {
            w.full().open().unblocked().socket().connect(w.target());
            register(w, SelectionKey.OP_CONNECT);
        });
        table.put("nothing to read", w -> register(w.connect().unblocked(), SelectionKey.OP_READ));
        table.put("no interest", w -> register(w.connect().withData().unblocked(), 0));
        table.put("readable", w -> register(w.connect().withData().unblocked(), SelectionKey.OP_READ));
        table.put("writable", w -> register(w.connect().unblocked(), SelectionKey.OP_WRITE));
        table.put("both", w -> register(w.connect().withData().unblocked(), 5));
        table.put("selected", w -> {
            register(w.connect().withData().unblocked(), SelectionKey.OP_READ);
            w.selector().select();
        });
        table.put("read", w -> {
            register(w.connect().withData().unblocked(), SelectionKey.OP_READ);
            w.selector().select();
            w.socket().read(java.nio.ByteBuffer.allocate(9));
        });
        table.put("input shut", w -> {
            w.connect().socket().shutdownInput();
            register(w.unblocked(), 5);
        });
        table.put("output shut", w -> {
            w.connect().socket().shutdownOutput();
            register(w.unblocked(), 5);
        });
        table.put("peer's output shut", w -> {
            w.connect().peer().shutdownOutput();
            register(w.afterTheEnd().unblocked(), 5);
        });
        table.put("reset", w -> register(w.connect().reset().unblocked(), 5));
        table.put(
                "woken",
                w -> register(w.connect().unblocked(), SelectionKey.OP_READ)
                        .selector()
                        .wakeup());
        table.put("interrupted", w -> register(w.connect().unblocked(), SelectionKey.OP_READ).isInterrupted = true);
        table.put(
                "readable, interrupted",
                w -> register(w.connect().withData().unblocked(), SelectionKey.OP_READ).isInterrupted = true);
        table.put(
                "cancelled",
                w -> register(w.connect().withData().unblocked(), SelectionKey.OP_READ)
                        .key()
                        .cancel());
        table.put("selected, cancelled", w -> {
            register(w.connect().withData().unblocked(), SelectionKey.OP_READ);
            w.selector().select();
            w.key().cancel();
        });
        table.put(
                "channel closed",
                w -> register(w.connect().withData().unblocked(), SelectionKey.OP_READ)
                        .socket()
                        .close());
        table.put(
                "closed",
                w -> register(w.connect().withData().unblocked(), SelectionKey.OP_READ)
                        .selector()
                        .close());
        return table;
    }

    private static ProbeWorld register(ProbeWorld w, int ops) throws java.io.IOException {
        w.openSelector();
        w.key = w.socket().register(w.selector(), ops, "attached");
        return w;
    }

    private static String sets(ProbeWorld w) {
        Selector of = w.selector();
        return "keys " + of.keys().size() + " selected " + of.selectedKeys().size()
                + (w.key().isValid() ? " ready " + w.key().readyOps() : "");
    }

    static Map<String, Call> calls() {
        Map<String, Call> table = new LinkedHashMap<>();
        table.put("isOpen", w -> w.selector().isOpen());
        table.put(
                "provider",
                w -> w.selector().provider().getClass() == w.ends.tried().getClass());
        table.put("keys", w -> w.selector().keys().size());
        table.put("keys.add", w -> w.selector().keys().add(w.key()));
        table.put("keys.clear", w -> {
            w.selector().keys().clear();
            return null;
        });
        table.put("selectedKeys", w -> w.selector().selectedKeys().size());
        table.put("selectedKeys.add", w -> w.selector().selectedKeys().add(w.key()));
        table.put("selectedKeys.remove", w -> w.selector().selectedKeys().remove(w.key()));
        table.put("selectedKeys.contains", w -> w.selector().selectedKeys().contains(w.key()));
        table.put("selectNow", w -> w.selector().selectNow() + " " + sets(w));
        table.put(
                "selectNow twice", w -> w.selector().selectNow() + w.selector().selectNow() + " " + sets(w));
        table.put("select", w -> w.selector().select() + " " + sets(w));
        table.put("select in 2 ms", w -> w.selector().select(2) + " " + sets(w));
        table.put("select(-1)", w -> w.selector().select(-1));
        table.put("selectNow(action)", w -> w.selector().selectNow(key -> {}) + " " + sets(w));
        table.put("select(action)", w -> w.selector().select(SelectionKey::readyOps) + " " + sets(w));
        table.put("select(action) in 2 ms", w -> w.selector().select(SelectionKey::readyOps, 2) + " " + sets(w));
        table.put("select(action, -1)", w -> w.selector().select(key -> {}, -1));
        table.put("select(null)", w -> w.selector().select(null));
        table.put("selectNow(null)", w -> w.selector().selectNow(null));
        table.put(
                "selectNow, of a throwing action",
                w -> w.selector().selectNow(key -> {
                    throw new IllegalCallerException();
                }));
        table.put("selectNow, of an action that selects", w -> w.selector().selectNow(key -> nested(w)));
        table.put("selectNow, of an action that closes", w -> w.selector().selectNow(key -> close(w)));
        table.put("wakeup", w -> w.selector().wakeup() == w.selector());
        table.put("wakeup twice, select", w -> {
            w.selector().wakeup().wakeup();
            return w.selector().select() + " " + sets(w);
        });
        table.put("close", w -> {
            w.selector().close();
            w.selector().close();
            return null;
        });
        keys(table);
        return table;
    }

    private static void nested(ProbeWorld w) {
        try {
            w.selector().selectNow();
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static void close(ProbeWorld w) {
        try {
            w.selector().close();
        } catch (java.io.IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }

    private static void keys(Map<String, Call> table) {
        table.put("key.isValid", w -> w.key().isValid());
        table.put(
                "key.channel, selector",
                w -> w.key().channel() == w.socket() && w.key().selector() == w.selector());
        table.put("key.attachment", w -> w.key().attachment());
        table.put("key.attach", w -> w.key().attach(null));
        table.put("key.interestOps", w -> w.key().interestOps());
        table.put("key.interestOps(write)", w -> w.key().interestOps(SelectionKey.OP_WRITE) == w.key());
        table.put("key.interestOps(accept)", w -> w.key().interestOps(SelectionKey.OP_ACCEPT));
        table.put("key.interestOps(-1)", w -> w.key().interestOps(-1));
        table.put("key.interestOpsOr", w -> w.key().interestOpsOr(SelectionKey.OP_WRITE));
        table.put("key.interestOpsOr(accept)", w -> w.key().interestOpsOr(SelectionKey.OP_ACCEPT));
        table.put("key.interestOpsAnd", w -> w.key().interestOpsAnd(SelectionKey.OP_WRITE));
        table.put("key.interestOpsAnd(all)", w -> w.key().interestOpsAnd(~0));
        table.put("key.readyOps", w -> w.key().readyOps());
        table.put("key.isReadable", w -> w.key().isReadable());
        table.put("key.isWritable", w -> w.key().isWritable());
        table.put(
                "key.isConnectable, isAcceptable",
                w -> w.key().isConnectable() + " " + w.key().isAcceptable());
        table.put("key.interestOps(write), selectNow", w -> {
            w.key().interestOps(SelectionKey.OP_WRITE);
            return w.selector().selectNow() + " " + sets(w);
        });
        table.put("key.interestOps(0), selectNow", w -> {
            w.key().interestOps(0);
            return w.selector().selectNow() + " " + sets(w);
        });
        table.put("key.cancel", w -> {
            w.key().cancel();
            w.key().cancel();
            return sets(w);
        });
        table.put("key.cancel, selectNow", w -> {
            w.key().cancel();
            return w.selector().selectNow() + " " + sets(w);
        });
        table.put("channel.register again", w -> w.socket().register(w.selector(), SelectionKey.OP_WRITE) == w.key());
        table.put("channel.keyFor", w -> w.socket().keyFor(w.selector()));
        table.put("channel.configureBlocking(true)", w -> w.socket().configureBlocking(true));
        table.put("channel.close, selectNow", w -> {
            w.socket().close();
            return w.selector().selectNow() + " " + sets(w);
        });
        table.put("selector.close, channel", w -> {
            w.selector().close();
            return w.socket().isRegistered() + " " + w.socket().keyFor(w.selector());
        });
    }
}
