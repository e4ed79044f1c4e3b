package verbena.sim.ethernet;

/// How long a transfer takes on an empty network: what slow-downs are measured by.
final class Ideal {
    private Ideal() {}

    /// From the first bit sent until the answer to the last packet is there, in picoseconds.
    static long picos(Transfer transfer) {
        int header = transfer.options.headerBytes();
        int full = header + transfer.options.payloadBytes();
        long all = transfer.bytes() + transfer.packets * header;
        int last = (int) (all - (transfer.packets - 1) * full);
        long slowest = 0;
        long sum = 0;
        // The last packet follows the others at the pace of the slowest link, and then goes on alone.
        for (Port port = transfer.source.port(); ; port = way(port.peer().owner, transfer.destination)) {
            slowest = Math.max(slowest, port.picosPerByte);
            sum += port.delayPicos() + last * port.picosPerByte;
            if (port.peer().owner == transfer.destination) {
                break;
            }
        }
        sum += (all - last) * slowest;
        for (Port port = transfer.destination.port(); ; port = way(port.peer().owner, transfer.source)) {
            sum += port.delayPicos() + transfer.options.answerBytes() * port.picosPerByte;
            if (port.peer().owner == transfer.source) {
                return sum;
            }
        }
    }

    private static Port way(Node node, Host to) {
        return ((Switch) node).waysTo(to)[0];
    }
}
