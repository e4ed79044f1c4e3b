package verbena.tools;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/// The demo's second process, seen from the first: orders go in, answers come out, each within a deadline. It is
/// ended on close, whatever it does then; and it ends by itself when this process is killed.
final class DemoPeerProcess implements AutoCloseable {
    private static final String END_OF_OUTPUT = "";
    private static final long START_SECONDS = 20;
    private static final int LAST_WORDS_MAX = 5;

    private final Process process;
    private final BufferedWriter orders;
    private final LinkedBlockingQueue<String> answers = new LinkedBlockingQueue<>();
    private final LinkedBlockingQueue<String> lastWords = new LinkedBlockingQueue<>(LAST_WORDS_MAX);
    private final Thread hook;

    /// Starts it; its first answer is to be taken.
    DemoPeerProcess(String device, long seed) throws IOException {
        List<String> command = new ArrayList<>(Verbena.javaCommand());
        command.addAll(List.of("demo-peer", device, Long.toString(seed)));
        process = new ProcessBuilder(command).start();
        hook = new Thread(process::destroyForcibly, "verbena-demo-end-peer");
        Runtime.getRuntime().addShutdownHook(hook);
        orders = process.outputWriter(StandardCharsets.US_ASCII);
        forward(process.inputReader(StandardCharsets.UTF_8), answers, () -> answers.add(END_OF_OUTPUT));
        forward(process.errorReader(StandardCharsets.UTF_8), lastWords, () -> {});
    }

    /// The words of its first answer.
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
            orders.write(line + "\n");
            orders.flush();
        } catch (IOException _) {
            // It is dead, and its answers will tell.
        }
        return answer(line);
    }

    /// The answer to an order that has two.
    String[] answer(String order) throws InterruptedException {
        return answer(order, 2 * DemoEnd.PATIENCE.toSeconds());
    }

    @Override
    public void close() {
        try {
            orders.close();
        } catch (IOException _) {
            // It is dead already.
        }
        try {
            if (!process.waitFor(1, TimeUnit.SECONDS)) {
                process.destroyForcibly();
            }
        } catch (InterruptedException _) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        try {
            Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException _) {
            // Shutting down: the hook has done it, or is about to.
        }
    }

    private String[] answer(String order, long seconds) throws InterruptedException {
        String answer = answers.poll(seconds, TimeUnit.SECONDS);
        if (answer == null) {
            throw new CommandFailed("the peer process did not answer to \"" + order + "\" in " + seconds + " s");
        }
        if (answer.equals(END_OF_OUTPUT)) {
            throw new CommandFailed("the peer process has ended" + exitValue() + " at \"" + order + "\""
                    + (lastWords.peek() == null ? "" : "; it said: " + String.join(" / ", lastWords)));
        }
        String[] words = answer.split(" ", -1);
        if (!words[0].equals("ok")) {
            throw new CommandFailed("the peer process: " + answer.replaceFirst("^failed ", ""));
        }
        return Arrays.copyOfRange(words, 1, words.length);
    }

    private String exitValue() throws InterruptedException {
        return process.waitFor(1, TimeUnit.SECONDS) ? " with status " + process.exitValue() : "";
    }

    private static void forward(BufferedReader from, LinkedBlockingQueue<String> to, Runnable atEnd) {
        Thread thread = new Thread(
                () -> {
                    try (from) {
                        for (String line = from.readLine(); line != null; line = from.readLine()) {
                            if (!line.isEmpty() && !to.offer(line)) {
                                to.poll();
                                to.add(line);
                            }
                        }
                    } catch (IOException _) {
                        // The same as its end.
                    }
                    atEnd.run();
                },
                "verbena-demo-peer-output");
        thread.setDaemon(true);
        thread.start();
    }
}
