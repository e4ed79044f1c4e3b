package verbena.stream;

import java.io.IOException;
import java.net.ConnectException;
import java.nio.channels.AsynchronousCloseException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import verbena.verbs.VerbsException;

/// The steps by which a channel is connected: one at a time, while no thread reads or writes. A channel that is
/// closed meanwhile is freed by the thread that takes the step.
final class ConnectSteps {
    private final StreamChannel channel;
    private final ReentrantLock reading;
    private final ReentrantLock writing;

    ConnectSteps(StreamChannel channel, ReentrantLock reading, ReentrantLock writing) {
        this.channel = channel;
        this.reading = reading;
        this.writing = writing;
    }

    /// A step on the active side.
    interface Step {
        boolean take() throws IOException, InterruptedException;
    }

    /// Takes a step under both locks. A step that fails closes the channel.
    boolean take(Step step) throws IOException {
        reading.lock();
        writing.lock();
        try {
            channel.checkOpen();
            boolean done = step.take();
            if (!channel.isOpen()) {
                throw new AsynchronousCloseException();
            }
            return done;
        } catch (InterruptedException e) {
            throw channel.closedByInterrupt();
        } catch (VerbsException e) {
            throw channel.isOpen() ? failed(new ConnectException(e.getMessage()), e) : new AsynchronousCloseException();
        } catch (AsynchronousCloseException e) {
            throw e;
        } catch (IOException e) {
            throw failed(e, null);
        } finally {
            if (!channel.isOpen()) {
                channel.free();
            }
            writing.unlock();
            reading.unlock();
        }
    }

    private IOException failed(IOException as, @Nullable Throwable why) {
        if (why != null) {
            as.initCause(why);
        }
        channel.close();
        return as;
    }

    /// Takes a step on the passive side, where no thread of the program writes yet.
    void takePassively(Runnable step) {
        reading.lock();
        try {
            step.run();
        } finally {
            if (!channel.isOpen()) {
                channel.free();
            }
            reading.unlock();
        }
    }
}
