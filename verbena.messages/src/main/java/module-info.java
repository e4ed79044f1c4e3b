import org.jspecify.annotations.NullMarked;

/// Messages with tags, and calls, between workers on any device: a program names no queue pair and no completion.
@NullMarked
module verbena.messages {
    requires static org.jspecify;
    requires transitive verbena.verbs;

    exports verbena.messages;
}
