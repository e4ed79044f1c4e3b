package verbena.bench;

import com.fasterxml.jackson.databind.JsonNode;

/// `perf` at both ends, in two processes that stay warm.
///
/// @param address of the server
record PerfEnds(Child server, Child client, String address) implements AutoCloseable {
    /// The client's output, and how much both ends allocated.
    record Answer(String out, long allocated) {}

    /// Runs a test once.
    ///
    /// @param serverOptions and `clientOptions` choose the devices; each begins with a blank, or is empty
    Answer run(String command, String serverOptions, String clientOptions) throws Exception {
        Workers.order(
                server, "perf " + command + serverOptions + " --warm-up 0 -p 0 --source_ip " + address + " --json");
        String port = server.hear();
        if (!port.startsWith(VerbenaEnd.LISTENING)) {
            Workers.read(port, JsonNode.class); // throws with the reason
        }
        Workers.order(
                client,
                "perf " + command + clientOptions + " --warm-up 0 -p " + port.substring(VerbenaEnd.LISTENING.length())
                        + " --json " + address);
        String hereSaid = client.hear();
        String thereSaid = server.hear(); // read even when the client has failed: the next order needs its own answer
        JsonNode here = Workers.read(hereSaid, JsonNode.class);
        JsonNode there = Workers.read(thereSaid, JsonNode.class);
        return new Answer(
                here.get("out").textValue(),
                here.get("allocated").longValue() + there.get("allocated").longValue());
    }

    @Override
    public void close() {
        client.close();
        server.close();
    }
}
