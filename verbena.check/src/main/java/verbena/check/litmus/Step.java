package verbena.check.litmus;

import java.util.List;
import java.util.Optional;
import verbena.check.litmus.Condition.Comparison;
import verbena.verbs.Capability;

/// A step of a thread.
public sealed interface Step {
    /// Returns the step as the notation has it.
    String text();

    /// Returns whether a compiler may exchange two steps: plain accesses of different words, of which the second
    /// does not use what the first has loaded.
    static boolean areExchangeable(Step one, Step other) {
        return isPlain(one)
                && isPlain(other)
                && !word(one).equals(word(other))
                && !(one instanceof Load load
                        && other instanceof Store store
                        && store.value().name().equals(load.register()));
    }

    private static boolean isPlain(Step step) {
        return switch (step) {
            case Load load -> load.plain();
            case Store store -> store.plain();
            default -> false;
        };
    }

    private static String word(Step step) {
        return switch (step) {
            case Load load -> load.word();
            case Store store -> store.word();
            default -> "";
        };
    }

    /// A load of the thread's own node into a register; a plain one may change places with plain steps beside it.
    record Load(String register, String word, boolean plain) implements Step {
        @Override
        public String text() {
            return register + " = load " + (plain ? "plain " : "") + word;
        }
    }

    /// A store into memory of the thread's own node.
    record Store(String word, Value value, boolean plain) implements Step {
        @Override
        public String text() {
            return "store " + (plain ? "plain " : "") + word + " " + value;
        }
    }

    /// An atomic increment by the processor; the register gets the value before.
    record Add(String register, String word, int number) implements Step {
        @Override
        public String text() {
            return register + " = add " + word + " " + number;
        }
    }

    /// A full fence of the processor.
    record Fence() implements Step {
        @Override
        public String text() {
            return "fence";
        }
    }

    /// A loop that loads a word until it has a value.
    record Await(String word, int number) implements Step {
        @Override
        public String text() {
            return "await " + word + " == " + Value.text(number);
        }
    }

    /// A condition without which the run does not count. With `again` the thread goes back to the READ before it,
    /// until the condition is true; the model knows only the last round.
    record Need(Comparison comparison, boolean again) implements Step {
        @Override
        public String text() {
            return (again ? "until " : "need ") + comparison;
        }
    }

    /// A wait for the next completion of a request at this end of a queue pair.
    record Poll(String queue) implements Step {
        @Override
        public String text() {
            return "poll " + queue;
        }
    }

    /// A wait for the next completion of a receive.
    record Take(String queue) implements Step {
        @Override
        public String text() {
            return "take " + queue;
        }
    }

    /// A look whether the next request is complete: the register gets 1 or 0, and the completion stays.
    record Done(String register, String queue) implements Step {
        @Override
        public String text() {
            return register + " = done " + queue;
        }
    }

    /// A request for a queue pair.
    ///
    /// @param remote the words at the peer; those of a SEND are the receive's
    /// @param local the words here: the source, or the target of a READ or an atomic; empty when `values` are sent
    /// @param values what is sent inline; what FETCH_ADD adds; what CMP_SWAP compares and swaps
    record Post(
            Verb verb,
            String queue,
            boolean fenced,
            List<String> remote,
            List<String> local,
            List<Value> values,
            String text)
            implements Step {
        public Post {
            remote = List.copyOf(remote);
            local = List.copyOf(local);
            values = List.copyOf(values);
        }
    }

    /// The verbs that a thread can post.
    enum Verb {
        WRITE,
        WRITE_IMM,
        SEND,
        READ,
        FETCH_ADD,
        CMP_SWAP,
        FLUSH;

        /// Returns what a device has to have for it beyond what each has.
        Optional<Capability> capability() {
            return switch (this) {
                case WRITE, SEND, READ -> Optional.empty();
                case WRITE_IMM -> Optional.of(Capability.IMMEDIATE_DATA);
                case FETCH_ADD, CMP_SWAP -> Optional.of(Capability.ATOMICS);
                case FLUSH -> Optional.of(Capability.FLUSH);
            };
        }

        boolean isAtomic() {
            return this == FETCH_ADD || this == CMP_SWAP;
        }

        /// Returns whether its result comes back into local memory.
        boolean isAnswered() {
            return this == READ || isAtomic();
        }

        /// Returns whether it brings bytes to the peer.
        boolean isPlaced() {
            return this == WRITE || this == WRITE_IMM || this == SEND;
        }

        /// Returns whether it completes a receive of the peer.
        boolean isMessage() {
            return this == SEND || this == WRITE_IMM;
        }
    }
}
