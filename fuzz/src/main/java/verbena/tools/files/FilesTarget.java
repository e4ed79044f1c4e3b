package verbena.tools.files;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.ArrayList;
import verbena.fuzz.Contract;
import verbena.fuzz.Input;
import verbena.tools.CommandFailed;

/// Messages of `verbena cp` and `verbena serve`: requests, and the files that are offered. The input is a message. It
/// is in this package because that is where the messages are.
public final class FilesTarget {
    private static final int NAME_MAX = 1_000;

    private FilesTarget() {}

    public static void run(byte[] data) {
        if (data.length == 0 || data.length > Letter.MAX) {
            return;
        }
        Letter letter = letter(data);
        if (!Contract.worksOrFailsBy(CommandFailed.class, letter::kind)) {
            return;
        }
        switch (letter.open().kind()) {
            case REQUEST -> {
                var read = new ArrayList<Request>();
                if (worksOrIsMalformed(() -> read.add(Request.readFrom(letter)))) {
                    byte[] written =
                            read.getFirst().writeTo(empty().begin(Kind.REQUEST)).written();
                    Request again = Request.readFrom(letter(written).open());
                    Contract.equal(
                            written,
                            again.writeTo(empty().begin(Kind.REQUEST)).written(),
                            "a request, written and read again");
                }
            }
            case ENTRY -> {
                var read = new ArrayList<Entry>();
                if (worksOrIsMalformed(() -> read.add(Entry.readFrom(letter)))) {
                    entry(read.getFirst());
                }
            }
            case ABORT, FAULT, FAILED, NOTE -> worksOrIsMalformed(() -> shown(letter.takeText()));
            default -> name(new Input(data).take(NAME_MAX));
        }
    }

    private static Letter letter(byte[] bytes) {
        return new Letter(0, ByteBuffer.wrap(bytes.clone())).arrived(bytes.length);
    }

    private static Letter empty() {
        return new Letter(0, ByteBuffer.allocate(2 * Letter.MAX));
    }

    /// A message that is too short is found by whoever receives it, for all kinds at once.
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
        Entry again = Entry.readFrom(letter(written).open());
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

    /// A name may not speak to the terminal.
    private static void shown(String text) {
        Contract.holds(text.codePoints().noneMatch(Character::isISOControl), "a control character is shown");
    }
}
