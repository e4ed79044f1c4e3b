package verbena.tools.files;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import verbena.fuzz.Contract;
import verbena.fuzz.Input;
import verbena.tools.kit.CommandFailed;

/// Messages of `verbena cp` and `verbena serve`: requests, and the files that are offered. The input is a message.
/// It is in this package because that is where the messages are.
public final class FilesTarget {
    private static final int NAME_MAX = 1_000;

    private FilesTarget() {}

    public static void run(byte[] data) {
        if (data.length == 0 || data.length > Message.MAX) {
            return;
        }
        Message message = message(data);
        if (!Contract.worksOrFailsBy(CommandFailed.class, message::kind)) {
            return;
        }
        switch (message.open().kind()) {
            case REQUEST -> {
                var read = new ArrayList<Request>();
                if (worksOrIsMalformed(() -> read.add(Request.readFrom(message)))) {
                    byte[] written =
                            read.getFirst().writeTo(empty().begin(Kind.REQUEST)).written();
                    Request again = Request.readFrom(message(written).open());
                    Contract.equal(
                            written,
                            again.writeTo(empty().begin(Kind.REQUEST)).written(),
                            "a request, written and read again");
                }
            }
            case ENTRY -> {
                var read = new ArrayList<Entry>();
                if (worksOrIsMalformed(() -> read.add(Entry.readFrom(message)))) {
                    entry(read.getFirst());
                }
            }
            case ABORT, FAULT, FAILED, NOTE -> worksOrIsMalformed(() -> shown(message.takeText()));
            default -> name(new Input(data).take(NAME_MAX));
        }
    }

    private static Message message(byte[] bytes) {
        return new Message(0, ByteBuffer.wrap(bytes.clone())).arrived(bytes.length);
    }

    private static Message empty() {
        return new Message(0, ByteBuffer.allocate(2 * Message.MAX));
    }

    /// Returns whether the work succeeds; false when the message is malformed. The receiver finds a message that is
    /// too short, for all kinds at once.
    private static boolean worksOrIsMalformed(Contract.Work work) {
        try {
            return Contract.worksOrFailsBy(CommandFailed.class, work);
        } catch (Contract.Broken e) {
            if (e.getCause() instanceof BufferUnderflowException) {
                return false;
            }
            throw e;
        }
    }

    private static void entry(Entry entry) {
        for (Path part : entry.name()) {
            Contract.holds(
                    !part.toString().equals("..") && !part.toString().equals("."), "a name that leads elsewhere");
        }
        Contract.holds(!entry.name().isAbsolute(), "a name that begins at the root");
        shown(Names.shown(entry.name()));
        byte[] written = entry.writeTo(empty().begin(Kind.ENTRY)).written();
        Entry again = Entry.readFrom(message(written).open());
        Contract.equal(written, again.writeTo(empty().begin(Kind.ENTRY)).written(), "an entry, written and read again");
    }

    private static void name(byte[] bytes) {
        var read = new ArrayList<Path>();
        if (Contract.worksOrFailsBy(CommandFailed.class, () -> read.add(Names.path(bytes)))) {
            Path path = read.getFirst();
            Contract.holds(!path.isAbsolute(), "a name that begins at the root");
            byte[] written = Names.bytes(path);
            Contract.equal(written, Names.bytes(Names.path(written)), "a name, written and read again");
            shown(Names.shown(path));
        }
    }

    /// Checks that a shown name has no control characters for the terminal.
    private static void shown(String text) {
        Contract.holds(text.codePoints().noneMatch(Character::isISOControl), "a control character is shown");
    }
}
