package verbena.verbs;

import java.util.Objects;
import java.util.Optional;

/// The options of a [CompletionQueue] ([Context#createCompletionQueue]). Start with [#of(int)]. Immutable; the
/// constructor throws [IllegalArgumentException] when `entries` is less than 1.
///
/// @param entries completions that the queue holds at least. A completion that finds it full is lost, and breaks the
///     queue
/// @param channel that the queue's notifications go to; empty for none
/// @param hasTimestamps whether its completions have a [WorkCompletion#timestamp()]; needs
///     [Capability#COMPLETION_TIMESTAMPS]
/// @since 0.1
public record CompletionQueueOptions(
        int entries,
        Optional<CompletionChannel> channel,
        @Preview boolean hasTimestamps) {
    @Preview
    public CompletionQueueOptions {
        if (entries < 1) {
            throw new IllegalArgumentException("createCompletionQueue: entries: at least 1, got " + entries);
        }
        Objects.requireNonNull(channel, "channel");
    }

    /// Returns options for at least so many entries, without a channel or time stamps.
    public static CompletionQueueOptions of(int entries) {
        return new CompletionQueueOptions(entries, Optional.empty(), false);
    }

    /// Returns these options with a channel of the same device, which tells a waiting thread that the queue has a
    /// completion ([CompletionQueue#arm()]).
    public CompletionQueueOptions withChannel(CompletionChannel channel) {
        return new CompletionQueueOptions(entries, Optional.of(channel), hasTimestamps);
    }

    /// Returns these options with a [WorkCompletion#timestamp()] for each completion, by the device's clock
    /// (ibv_create_cq_ex(3)).
    @Preview
    public CompletionQueueOptions withTimestamps() {
        return new CompletionQueueOptions(entries, channel, true);
    }
}
