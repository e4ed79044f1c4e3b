package verbena.tools.files;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import verbena.tools.kit.CommandFailed;

/// The offers of a sender. It walks through the sources, puts many entries into a message, and keeps those that are
/// under way. Limits hold it back: so many entries, messages without an answer, and files that go in chunks. Guarded
/// by the sender.
final class Offers {
    private final MessageChannel channel;
    private final Terms terms;
    private final List<Walk.Source> sources;
    private final boolean recursive;
    private final Finder finder;
    private final TransferListener listener;
    private final Map<Integer, Outgoing> offered = new HashMap<>();
    private @Nullable Walk walk;
    private int entries;
    private int unanswered;
    private int inChunks;
    private boolean isFinished;

    Offers(
            MessageChannel channel,
            Terms terms,
            List<Walk.Source> sources,
            boolean recursive,
            Finder finder,
            TransferListener listener) {
        this.channel = channel;
        this.terms = terms;
        this.sources = sources;
        this.recursive = recursive;
        this.finder = finder;
        this.listener = listener;
    }

    /// Sends the receiver the number of files and bytes, and begins.
    void begin() throws InterruptedException {
        long files = 0;
        long bytes = 0;
        var count = new Walk(sources, recursive, finder);
        channel.busy(1);
        try {
            for (Walk.Step step = count.next(); step != null; step = count.next()) {
                if (step instanceof Walk.Item item && item.attributes().type() == Attributes.Type.FILE) {
                    files++;
                    bytes += item.attributes().size();
                }
            }
        } finally {
            channel.busy(-1);
        }
        listener.total(files, bytes);
        channel.send(channel.write(Kind.TOTAL).int64(files).int64(bytes));
        walk = new Walk(sources, recursive, finder);
    }

    /// Offers as many entries as may be without an answer.
    void goOn() throws InterruptedException {
        Message message = null;
        var announcement = new Announcement();
        while (walk != null
                && offered.size() < Terms.ENTRIES_MAX
                && unanswered < Terms.ANNOUNCEMENTS_MAX
                && inChunks < Terms.FILES_MAX) {
            switch (walk.next()) {
                case null -> walk = null;
                case Walk.Item item -> {
                    var entry = new Entry(entries, item.attributes(), item.name(), item.target());
                    if (message != null && message.room() < entry.length()) {
                        channel.send(message);
                        message = null;
                    }
                    if (message == null) {
                        message = channel.write(Kind.ENTRY);
                        announcement = new Announcement();
                    }
                    Outgoing file = add(
                            item, announcement, terms.chunks(item.attributes().size()));
                    if (!terms.isSmall(item.attributes().size())) {
                        count(file);
                    }
                    entry.writeTo(message);
                }
                case Walk.Trouble trouble -> {
                    if (message != null) {
                        channel.send(message); // names stay in order
                        message = null;
                    }
                    Outgoing nothing = add(trouble, new Announcement(), 0);
                    nothing.stage = Outgoing.Stage.OVER;
                    if (trouble.isFailure()) {
                        listener.failed(nothing.name, nothing.name + ": " + trouble.why());
                    } else {
                        listener.leftOut(nothing.name, trouble.why());
                    }
                    channel.send(channel.write(Kind.NOTE)
                            .int32(nothing.id)
                            .int8(trouble.isFailure() ? 1 : 0)
                            .text(nothing.name)
                            .text(trouble.why()));
                }
            }
        }
        if (message != null) {
            channel.send(message);
        }
        if (walk == null && offered.isEmpty() && !isFinished) {
            isFinished = true;
            channel.send(channel.write(Kind.FINISH));
        }
    }

    private Outgoing add(Walk.Step step, Announcement announcement, long chunks) {
        var one = new Outgoing(entries++, step, announcement, chunks);
        unanswered += announcement.unanswered++ == 0 ? 1 : 0;
        offered.put(one.id, one);
        return one;
    }

    /// Notes that the receiver has answered an offer.
    void answered(Outgoing one) {
        unanswered -= --one.announcement.unanswered == 0 ? 1 : 0;
    }

    /// Counts a file that goes in chunks.
    void count(Outgoing file) {
        file.isCounted = true;
        inChunks++;
    }

    /// Returns whether one more file may go in chunks.
    boolean mayCount() {
        return inChunks < Terms.FILES_MAX;
    }

    /// Returns the entry that was offered with this number and is under way.
    ///
    /// @throws CommandFailed when nothing was
    Outgoing get(int id) {
        Outgoing file = offered.get(id);
        if (file == null) {
            throw new CommandFailed("the peer speaks of a file that was not offered");
        }
        return file;
    }

    /// Forgets a file that is complete, given up, or not wanted.
    void forget(Outgoing file) {
        file.stage = Outgoing.Stage.OVER;
        offered.remove(file.id);
        inChunks -= file.isCounted ? 1 : 0;
        file.close();
    }

    /// Returns whether the receiver knows that no more comes.
    boolean isFinished() {
        return isFinished;
    }

    /// Closes what is still on its way.
    void close() {
        offered.values().forEach(Outgoing::close);
    }
}
