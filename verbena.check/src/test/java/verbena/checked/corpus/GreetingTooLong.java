package verbena.checked.corpus;

import verbena.check.Rule;
import verbena.verbs.cm.Connection;
import verbena.verbs.cm.ConnectionOptions;
import verbena.verbs.cm.PrivateData;

/// A client that runs over iWARP today sends its name with the request for a connection.
final class GreetingTooLong implements Program {
    @Override
    public Rule rule() {
        return Rule.PRIVATE_LONG;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        try (var device = scene.open("iwarp"); // earlier
                var server = new TwoEnds.Server(device)) {
            var greeting = PrivateData.of(new byte[100]);
            var options = ConnectionOptions.defaults().withDevice(device).withPrivateData(greeting);
            Connection.connect(server.localAddress(), options).close(); // here
        }
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        try (var device = scene.open("iwarp");
                var server = new TwoEnds.Server(device)) {
            var options = ConnectionOptions.defaults().withDevice(device);
            try (var client = Connection.connect(server.localAddress(), options)) {
                client.send(new byte[100]);
            }
        }
    }
}
