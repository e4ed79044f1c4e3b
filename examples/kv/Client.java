import static java.nio.charset.StandardCharsets.UTF_8;

import module java.base;
import verbena.verbs.Device;

/// The store on the command line: `Client.java HOST:PORT,HOST:PORT,HOST:PORT put KEY VALUE`, or `get KEY`, or
/// `delete KEY`.
public final class Client {
    private Client() {}

    public static void main(String[] args) throws Exception {
        try (var device = Device.named("rocev2").open();
                var store = new Store(device, Replica.addresses(args[0]), Duration.ofSeconds(60))) {
            System.out.println(
                    switch (args[1]) {
                        case "put" -> store.put(args[2], args[3].getBytes(UTF_8)) ? "changed" : "new";
                        case "get" -> store.get(args[2]).map(value -> new String(value, UTF_8)).orElse("(no value)");
                        case "delete" -> store.delete(args[2]) ? "deleted" : "(no value)";
                        default -> throw new IllegalArgumentException("put, get or delete, got " + args[1]);
                    });
        }
    }
}
