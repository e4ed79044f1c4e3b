package verbena.check.litmus;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import verbena.check.litmus.Program.Queue;
import verbena.check.litmus.Program.Strand;
import verbena.check.litmus.Step.Post;
import verbena.check.litmus.Step.Verb;

/// A program laid out for the model: every step, request and piece of a message has a number, and a place in the
/// bytes of a state. As programs have no loops, each request is known beforehand.
final class Machine {
    /// All bits of a word, and those of its halves.
    static final int WHOLE = 0xff;

    private static final int HIGH = 0xf0;
    private static final int LOW = 0x0f;

    /// A piece of a request's message: one word, or a half of one.
    ///
    /// @param request the number of its request
    /// @param remote the word at the peer; -1 for a message without bytes
    /// @param local the word here; -1 for inline data
    /// @param mask the bits of the word
    /// @param at where its payload is in a state, with its flags behind it
    record Piece(int request, int remote, int local, int mask, int at) {}

    /// A step with its numbers.
    ///
    /// @param number among all steps; the step's state is at `at`, its value behind it
    /// @param thread whose it is
    /// @param word the word that it uses; -1 for none
    /// @param request the one that it posts, or waits for; -1 for none
    record Action(Step step, int number, int thread, int word, int request, int at) {}

    /// A request with its numbers.
    ///
    /// @param at where its flags are in a state
    /// @param before the requests posted before it that it may have to wait for, oldest first
    /// @param queueBefore those of them at the same end of the same queue pair
    /// @param isStable whether nothing writes to its local source while the program runs
    /// @param isWatched whether a step looks if it is complete
    record Request(
            Post post,
            int number,
            int at,
            String end,
            String peer,
            boolean isRelaxed,
            List<Piece> pieces,
            List<Integer> before,
            List<Integer> queueBefore,
            boolean isStable,
            boolean isWatched) {
        Verb verb() {
            return post.verb();
        }
    }

    final List<String> names;
    final List<List<Action>> threads = new ArrayList<>();
    final List<Request> requests = new ArrayList<>();
    /// The action that posts each request.
    final List<Action> posts = new ArrayList<>();
    final byte[] initial;
    private final Program program;
    private final Map<String, Integer> registers = new HashMap<>();
    private int size;

    Machine(Program program, Set<ModelFreedom> freedoms) {
        this.program = program;
        names = List.copyOf(program.words().sequencedKeySet());
        size = names.size();
        boolean halves = freedoms.contains(ModelFreedom.TORN_WORDS) && program.isWide();
        for (Strand thread : program.threads()) {
            add(thread, halves, freedoms.contains(ModelFreedom.QUEUE_PAIRS));
        }
        for (int i = 0; i < threads.size(); i++) {
            meet(i);
        }
        initial = new byte[size];
        IntStream.range(0, names.size())
                .forEach(i -> initial[i] =
                        (byte) Program.known(program.words(), names.get(i)).initial());
    }

    private void add(Strand thread, boolean halves, boolean queuesAreFree) {
        int number = threads.size();
        var actions = new ArrayList<Action>();
        var own = new ArrayList<Request>();
        for (Step step : thread.steps()) {
            int at = size;
            size += 2;
            int word = switch (step) {
                case Step.Load load -> names.indexOf(load.word());
                case Step.Store store -> names.indexOf(store.word());
                case Step.Add add -> names.indexOf(add.word());
                case Step.Await await -> names.indexOf(await.word());
                default -> -1;
            };
            int request = -1;
            if (step instanceof Post post) {
                Request its = request(post, thread, own, halves, queuesAreFree);
                request = its.number();
                own.add(its);
                requests.add(its);
            }
            var action = new Action(step, actions.size(), number, word, request, at);
            actions.add(action);
            if (request >= 0) {
                posts.add(action);
            }
            switch (step) {
                case Step.Load load -> registers.put(load.register(), at + 1);
                case Step.Add add -> registers.put(add.register(), at + 1);
                case Step.Done done -> registers.put(done.register(), at + 1);
                default -> {}
            }
        }
        threads.add(actions);
    }

    private Request request(Post post, Strand thread, List<Request> own, boolean halves, boolean queuesAreFree) {
        int at = size++;
        int number = requests.size();
        String end = post.queue() + "@" + thread.node();
        Queue queue = Program.known(program.queues(), post.queue());
        var pieces = new ArrayList<Piece>();
        int words = post.verb() == Verb.FLUSH ? 0 : post.remote().size();
        for (int i = 0; i < words; i++) {
            int local = post.local().isEmpty() ? -1 : names.indexOf(post.local().get(i));
            int remote = names.indexOf(post.remote().get(i));
            for (int mask : halves && !post.verb().isAtomic() ? new int[] {HIGH, LOW} : new int[] {WHOLE}) {
                pieces.add(new Piece(number, remote, local, mask, size));
                size += 2;
            }
        }
        if (pieces.isEmpty()) {
            pieces.add(new Piece(number, -1, -1, WHOLE, size));
            size += 2;
        }
        List<Integer> sameEnd = own.stream()
                .filter(each -> each.end().equals(end))
                .map(Request::number)
                .toList();
        return new Request(
                post,
                number,
                at,
                end,
                queue.peer(thread.node()),
                queue.relaxed(),
                List.copyOf(pieces),
                queuesAreFree ? sameEnd : own.stream().map(Request::number).toList(),
                sameEnd,
                post.verb().isPlaced() && isStable(post.local()),
                thread.steps().stream()
                        .anyMatch(step ->
                                step instanceof Step.Done done && done.queue().equals(post.queue())));
    }

    // Whether nothing ever writes these words.
    private boolean isStable(List<String> words) {
        return program.threads().stream()
                .flatMap(thread -> thread.steps().stream())
                .noneMatch(step -> switch (step) {
                    case Step.Store store -> words.contains(store.word());
                    case Step.Add add -> words.contains(add.word());
                    case Post post ->
                        (post.verb().isAnswered() && post.local().stream().anyMatch(words::contains))
                                || (post.verb() != Verb.READ
                                        && post.remote().stream().anyMatch(words::contains));
                    default -> false;
                });
    }

    // Finds for each step that waits the request for which it does.
    private void meet(int thread) {
        String node = program.threads().get(thread).node();
        Map<String, Integer> polls = new HashMap<>();
        Map<String, Integer> takes = new HashMap<>();
        threads.get(thread).replaceAll(action -> switch (action.step()) {
            case Step.Poll(String queue) -> waiting(action, sent(queue, node), polls.merge(queue, 1, Integer::sum) - 1);
            case Step.Done done -> waiting(action, sent(done.queue(), node), polls.getOrDefault(done.queue(), 0));
            case Step.Take(String queue) ->
                waiting(
                        action,
                        sent(queue, Program.known(program.queues(), queue).peer(node)).stream()
                                .filter(each -> each.verb().isMessage())
                                .toList(),
                        takes.merge(queue, 1, Integer::sum) - 1);
            default -> action;
        });
    }

    private List<Request> sent(String queue, String node) {
        return requests.stream()
                .filter(each -> each.end().equals(queue + "@" + node))
                .toList();
    }

    private static Action waiting(Action action, List<Request> requests, int index) {
        if (index >= requests.size()) {
            throw new IllegalArgumentException("'" + action.step().text() + "': waits for a request that nobody posts");
        }
        return new Action(
                action.step(),
                action.number(),
                action.thread(),
                action.word(),
                requests.get(index).number(),
                action.at());
    }

    int register(String name) {
        return Program.known(registers, name);
    }

    /// Returns where the value of a register or of a word is in a state.
    int placeOf(String name) {
        int word = names.indexOf(name);
        return word >= 0 ? word : register(name);
    }
}
