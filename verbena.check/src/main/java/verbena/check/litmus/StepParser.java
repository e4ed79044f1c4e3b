package verbena.check.litmus;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import verbena.check.litmus.Condition.Comparison;
import verbena.check.litmus.Program.Queue;
import verbena.check.litmus.Program.Strand;
import verbena.check.litmus.Step.Post;
import verbena.check.litmus.Step.Verb;

/// Reads the steps of one thread.
final class StepParser {
    private static final Pattern LOAD = Pattern.compile("(\\w+) = load (plain )?([\\w.]+)");
    private static final Pattern STORE = Pattern.compile("store (plain )?([\\w.]+) (.+)");
    private static final Pattern ADD = Pattern.compile("(\\w+) = add ([\\w.]+) (\\w+)");
    private static final Pattern NEED = Pattern.compile("(need|until) (.+)");
    private static final Pattern AWAIT = Pattern.compile("await ([\\w.]+) == (\\w+)");
    private static final Pattern QUEUE = Pattern.compile("(poll|take) (\\w+)");
    private static final Pattern DONE = Pattern.compile("(\\w+) = done (\\w+)");

    private final Scope scope;
    private final String node;
    private final List<Strand> before;
    /// The registers that the thread has set so far.
    private final Set<String> registers = new HashSet<>();
    private final List<Post> posts = new ArrayList<>();
    private final List<String> polled = new ArrayList<>();

    StepParser(Scope scope, String node, List<Strand> before) {
        this.scope = scope;
        this.node = node;
        this.before = List.copyOf(before);
    }

    /// Returns the registers that steps set.
    static Stream<String> registers(List<Step> steps) {
        return steps.stream().flatMap(step -> switch (step) {
            case Step.Load load -> Stream.of(load.register());
            case Step.Add add -> Stream.of(add.register());
            case Step.Done done -> Stream.of(done.register());
            default -> Stream.empty();
        });
    }

    Step step(String line) {
        if (line.equals("fence")) {
            return new Step.Fence();
        }
        Matcher load = LOAD.matcher(line);
        if (load.matches()) {
            return new Step.Load(register(load.group(1)), word(load.group(3)), load.group(2) != null);
        }
        Matcher store = STORE.matcher(line);
        if (store.matches()) {
            return new Step.Store(word(store.group(2)), value(store.group(3)), store.group(1) != null);
        }
        Matcher add = ADD.matcher(line);
        if (add.matches()) {
            return new Step.Add(register(add.group(1)), word(add.group(2)), scope.number(add.group(3)));
        }
        Matcher await = AWAIT.matcher(line);
        if (await.matches()) {
            return new Step.Await(word(await.group(1)), scope.number(await.group(2)));
        }
        Matcher need = NEED.matcher(line);
        if (need.matches()) {
            return need(need.group(1).equals("until"), scope.comparison(need.group(2)));
        }
        Matcher done = DONE.matcher(line);
        if (done.matches()) {
            return new Step.Done(register(done.group(1)), own(done.group(2)));
        }
        Matcher queue = QUEUE.matcher(line);
        if (queue.matches()) {
            String name = scope.queue(queue.group(2), node).name();
            return queue.group(1).equals("poll") ? poll(name) : new Step.Take(name);
        }
        return post(line);
    }

    private Step need(boolean again, Comparison comparison) {
        known(comparison.left());
        known(comparison.right());
        if (again && posts.stream().noneMatch(post -> post.verb() == Verb.READ)) {
            throw scope.wrong("no READ before it is repeated");
        }
        return new Step.Need(comparison, again);
    }

    private Step poll(String queue) {
        polled.add(queue);
        long polls = polled.stream().filter(queue::equals).count();
        if (polls > posts.stream().filter(each -> each.queue().equals(queue)).count()) {
            throw scope.wrong("polls more often than it has posted");
        }
        return new Step.Poll(queue);
    }

    // ---- requests

    // VERB QUEUE [REMOTE] <- SOURCE: for READ and atomics the left side is local.
    private Step post(String line) {
        String text = line.startsWith("fenced ") ? line.substring("fenced ".length()) : line;
        String[] sides = text.split(" <- ", -1);
        String[] left = sides[0].split(" ", -1);
        Verb verb = verb(left[0]);
        if (left.length < 2 || sides.length > 2) {
            throw scope.wrong("is no 'VERB QUEUE …'");
        }
        String[] right = sides.length == 1 ? new String[0] : sides[1].split(" ", -1);
        Queue queue = scope.queue(own(left[1]), node);
        List<String> remote = List.of();
        List<String> local = List.of();
        List<Value> values = List.of();
        switch (verb) {
            case WRITE, WRITE_IMM, SEND -> {
                check(verb, left.length == (verb == Verb.SEND ? 2 : 3) && right.length > 0);
                if (scope.isWord(right[0]) || scope.isWord(right[0] + ".0")) {
                    check(verb, right.length == 1);
                    local = scope.array(right[0], node);
                } else {
                    values = Stream.of(right).map(this::inline).toList();
                }
                remote = verb == Verb.SEND ? receive(queue, queue.peer(node)) : scope.array(left[2], queue.peer(node));
                int length = Math.max(local.size(), values.size());
                if (verb == Verb.SEND) {
                    if (length > remote.size()) {
                        throw scope.wrong("the receive has " + remote.size() + " words");
                    }
                    remote = remote.subList(0, length);
                }
                if (length != remote.size()) {
                    throw scope.wrong("both sides need the same number of words");
                }
                if (verb == Verb.WRITE_IMM) {
                    receive(queue, queue.peer(node));
                }
            }
            case READ -> {
                check(verb, left.length == 3 && right.length == 1);
                local = scope.array(left[2], node);
                remote = scope.array(right[0], queue.peer(node));
                if (local.size() != remote.size()) {
                    throw scope.wrong("both sides need the same number of words");
                }
            }
            case FETCH_ADD, CMP_SWAP -> {
                check(verb, left.length == 3 && right.length == (verb == Verb.FETCH_ADD ? 2 : 3));
                local = List.of(word(left[2]));
                remote = List.of(scope.word(right[0], queue.peer(node)).name());
                values = Stream.of(right).skip(1).map(this::inline).toList();
            }
            case FLUSH -> {
                check(verb, left.length == 3 && right.length == 0);
                remote = scope.array(left[2], queue.peer(node));
            }
        }
        var post = new Post(verb, queue.name(), !text.equals(line), remote, local, values, line);
        posts.add(post);
        return post;
    }

    private Verb verb(String text) {
        for (Verb verb : Verb.values()) {
            if (verb.name().equals(text)) {
                return verb;
            }
        }
        throw scope.wrong(text + " is no verb");
    }

    private void check(Verb verb, boolean isRight) {
        if (!isRight) {
            throw scope.wrong(verb + ": is "
                    + switch (verb) {
                        case WRITE, WRITE_IMM -> "'" + verb + " QUEUE REMOTE <- VALUE …' or '… <- LOCAL'";
                        case SEND -> "'SEND QUEUE <- VALUE …' or '… <- LOCAL'";
                        case READ -> "'READ QUEUE LOCAL <- REMOTE'";
                        case FETCH_ADD -> "'FETCH_ADD QUEUE LOCAL <- REMOTE NUMBER'";
                        case CMP_SWAP -> "'CMP_SWAP QUEUE LOCAL <- REMOTE COMPARE SWAP'";
                        case FLUSH -> "'FLUSH QUEUE REMOTE'";
                    });
        }
    }

    // The receive that a message meets: they are used in order.
    private List<String> receive(Queue queue, String peer) {
        long earlier = posts.stream()
                .filter(each -> each.queue().equals(queue.name()) && each.verb().isMessage())
                .count();
        List<List<String>> receives = queue.receives().getOrDefault(peer, List.of());
        if (earlier >= receives.size()) {
            throw scope.wrong("node " + peer + " has no receive for it at queue " + queue.name());
        }
        return receives.get((int) earlier);
    }

    // ---- names

    // A queue's end is used by one thread, so that the order of its requests is the order of the text.
    private String own(String queue) {
        for (Strand other : before) {
            if (other.node().equals(node)
                    && other.steps().stream()
                            .anyMatch(step ->
                                    step instanceof Post post && post.queue().equals(queue))) {
                throw scope.wrong("queue '" + queue + "' is posted to by another thread of this node");
            }
        }
        return scope.queue(queue, node).name();
    }

    private String register(String text) {
        if (scope.isWord(text) || !text.equals(text.toLowerCase(Locale.ROOT))) {
            throw scope.wrong("'" + text + "' is no name of a register");
        }
        if (before.stream().anyMatch(thread -> registers(thread.steps()).anyMatch(text::equals))
                || !registers.add(text)) {
            throw scope.wrong("register '" + text + "' is set twice");
        }
        return text;
    }

    private String word(String text) {
        return scope.word(text, node).name();
    }

    private Value inline(String text) {
        return value(text.replace("+", " + "));
    }

    private Value value(String text) {
        return known(scope.value(text));
    }

    private Value known(Value value) {
        if (!value.isNumber() && !registers.contains(value.name())) {
            throw scope.wrong("the thread has not set a register '" + value.name() + "'");
        }
        return value;
    }
}
