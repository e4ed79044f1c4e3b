package verbena.sim.ethernet;

/// The time that a transfer takes on an empty network, by which slow-downs are measured.
final class Ideal {
    private Ideal() {}

    /// Returns the time from the first bit sent until the answer to the last packet is there, in picoseconds.
    static long picos(Host source, Host destination, long bytes, TransferOptions options) {
        int header = options.headerBytes();
        int full = header + options.payloadBytes();
        long packets = Math.ceilDiv(bytes, options.payloadBytes());
        long all = bytes + packets * header;
        int last = (int) (all - (packets - 1) * full);
        long slowest = 0;
        for (Port port = source.port(); ; port = way((Switch) port.peer().owner, destination)) {
            slowest = Math.max(slowest, port.picosPerByte);
            if (port.peer().owner == destination) {
                break;
            }
        }
        // The last packet follows the others at the pace of the slowest link, and then goes on alone.
        return (all - last) * slowest
                + alone(last, source, destination)
                + alone(options.answerBytes(), destination, source);
    }

    /// Returns the same for one packet.
    private static long alone(int bytes, Host from, Host to) {
        long sum = 0;
        Port port = from.port();
        while (port.peer().owner instanceof Switch middle) {
            Port next = way(middle, to);
            sum += port.delayPicos() + middle.neededBytes(bytes, port.peer(), next) * port.picosPerByte;
            port = next;
        }
        return sum + port.delayPicos() + bytes * port.picosPerByte;
    }

    private static Port way(Switch node, Host to) {
        return node.waysTo(to.number)[0];
    }
}
