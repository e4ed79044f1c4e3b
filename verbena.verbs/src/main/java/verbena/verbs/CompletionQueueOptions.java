package verbena.verbs;

import java.util.Objects;
import java.util.Optional;

/// The options of a [CompletionQueue] ([Context#createCompletionQueue]). Start with [#of(int)]. Immutable.
///
/// @param entries completions that it holds at least
/// @param channel that its notifications go to; empty for none
/// @param hasTimestamps whether its completions have a [WorkCompletion#timestamp()]; needs
///     [Capability#COMPLETION_TIMESTAMPS]
/// @since 0.1
public record CompletionQueueOptions(int entries, Optional<CompletionChannel> channel, boolean hasTimestamps) {
    public CompletionQueueOptions {
        Objects.requireNonNull(channel, "channel");
    }

    /// Returns options for at least so many entries, without a channel or time stamps.
    public static CompletionQueueOptions of(int entries) {
        return new CompletionQueueOptions(entries, Optional.empty(), false);
    }

    /// Returns these options with a channel for the notifications of the queue.
    public CompletionQueueOptions withChannel(CompletionChannel channel) {
        return new CompletionQueueOptions(entries, Optional.of(channel), hasTimestamps);
    }

    /// Returns these options with time stamps of completions, by the device's clock (ibv_create_cq_ex(3)).
    @Preview
    public CompletionQueueOptions withTimestamps() {
        return new CompletionQueueOptions(entries, channel, true);
    }
}
