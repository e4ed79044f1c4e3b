package verbena.tools.demo;

import java.io.IOException;
import java.lang.ProcessBuilder.Redirect;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import verbena.tools.kit.ChildProcess;
import verbena.tools.kit.CommandFailed;
import verbena.verbs.RemoteMemory;

/// The demo's second process, seen from the first: orders go in, answers come out, each within a deadline.
final class DemoPeerProcess implements AutoCloseable {
    private static final long START_SECONDS = 20;
    private static final int LAST_WORDS_MAX = 5;

    private final ChildProcess process;
    private final BlockingQueue<String> answers;
    private final BlockingQueue<String> lastWords;

    /// Starts it; its first answer is to be taken.
    ///
    /// @param by the words of a command that starts it where it is to run; none for this host
    DemoPeerProcess(List<String> by, String device, long seed) throws IOException {
        process = new ChildProcess(by, List.of("demo-peer", device, Long.toString(seed)), Redirect.PIPE, Redirect.PIPE);
        answers = ChildProcess.lines(process.output(), Integer.MAX_VALUE);
        lastWords = ChildProcess.lines(process.errors(), LAST_WORDS_MAX + 1);
    }

    /// Returns the words of its first answer: address, port and process.
    String[] started() throws InterruptedException {
        return answer("start", START_SECONDS);
    }

    /// Gives an order and waits for the answer; returns the words after `ok`.
    ///
    /// @throws CommandFailed when the peer failed, does not answer, or has died
    String[] order(Object... words) throws InterruptedException {
        String line =
                String.join(" ", Arrays.stream(words).map(Object::toString).toList());
        try {
            process.tell(line);
        } catch (IOException _) {
            // It is dead, and its answers will tell.
        }
        return answer(line);
    }

    /// Returns the second answer to an order that has two.
    String[] answer(String order) throws InterruptedException {
        return answer(order, 2 * DemoEnd.TIMEOUT.toSeconds());
    }

    /// Returns the memory that it has for us at one of its connections, which it counts from 0.
    RemoteMemory memory(int connection) throws InterruptedException {
        return RemoteMemory.parse(order("memory", connection)[0]);
    }

    @Override
    public void close() {
        process.close();
    }

    private String[] answer(String order, long seconds) throws InterruptedException {
        String answer = answers.poll(seconds, TimeUnit.SECONDS);
        if (answer == null) {
            throw new CommandFailed("the peer process did not answer to \"" + order + "\" in " + seconds + " s");
        }
        if (answer.equals(ChildProcess.NO_MORE)) {
            throw new CommandFailed(
                    "the peer process has ended" + process.ending() + " at \"" + order + "\"" + lastWords());
        }
        String[] words = answer.split(" ", -1);
        if (!words[0].equals("ok")) {
            throw new CommandFailed("the peer process: " + answer.replaceFirst("^failed ", ""));
        }
        return Arrays.copyOfRange(words, 1, words.length);
    }

    private String lastWords() {
        String said = lastWords.stream().filter(line -> !line.isEmpty()).collect(Collectors.joining(" / "));
        return said.isEmpty() ? "" : "; it said: " + said;
    }
}
