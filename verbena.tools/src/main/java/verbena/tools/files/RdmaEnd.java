package verbena.tools.files;

import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.Context;
import verbena.verbs.RemoteMemory;
import verbena.verbs.cm.Connection;

/// A file by RDMA, exactly as `cp` and `serve` move it, but for the greeting, and without waiting for the disk.
final class RdmaEnd implements Endpoint {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final Context device;
    private final MessageChannel channel;
    private final Session session;
    private final Path file;
    private final boolean isSender;
    private final RemoteMemory theirs;

    /// @param device closed with this
    RdmaEnd(Context device, Connection connection, Way.Kind kind, Path file, boolean isSender)
            throws InterruptedException {
        this.device = device;
        this.file = file;
        this.isSender = isSender;
        Terms terms = Terms.DEFAULT.with(kind == Way.Kind.RDMA_READ ? Mode.READ : Mode.WRITE);
        channel = new MessageChannel(connection);
        session = new Session(channel, terms, isSender, false);
        channel.send(channel.write(Kind.READY).memory(session.exposed()));
        theirs = channel.expect(Kind.READY, TIMEOUT).takeMemory();
    }

    @Override
    public void run() throws InterruptedException {
        Folder folder = Folder.holding(file);
        var failure = new AtomicReference<String>();
        var listener = new TransferListener() {
            @Override
            public void failed(String name, String why) {
                failure.set(why);
            }
        };
        if (isSender) {
            session.send(theirs, List.of(Walk.Source.of(folder, file.getFileName())), false, listener);
        } else {
            var landing = new Landing(folder, Path.of(""), file.getFileName());
            var scope = new Announced.Scope(null, true, false);
            session.receive(theirs, landing, scope, EnumSet.of(Request.Option.NO_SYNC), listener);
        }
        if (failure.get() != null) {
            throw new CommandFailed(failure.get());
        }
    }

    @Override
    public void close() {
        session.close();
        channel.close();
        device.close();
    }
}
