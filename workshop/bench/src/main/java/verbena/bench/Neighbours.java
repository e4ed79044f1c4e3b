package verbena.bench;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/// Threads that want processors all the time, each in a process of its own: programs beside those that are measured.
final class Neighbours implements AutoCloseable {
    private final List<Child> children = new ArrayList<>();

    /// Starts that many; they do nothing yet.
    static Neighbours start(int count) throws Exception {
        var neighbours = new Neighbours();
        try {
            for (int i = 0; i < count; i++) {
                neighbours.children.add(Workers.start("busy", List.of()));
            }
        } catch (Exception e) {
            neighbours.close();
            throw e;
        }
        return neighbours;
    }

    void go() throws Exception {
        for (Child child : children) {
            Workers.order(child, "go");
            Workers.answer(child, JsonNode.class);
        }
    }

    /// Stops them, and returns how many steps they came since [#go()], all together.
    double stop() throws Exception {
        double sum = 0;
        for (Child child : children) {
            Workers.order(child, "stop");
            sum += Workers.answer(child, JsonNode.class).get("steps").doubleValue();
        }
        return sum;
    }

    @Override
    public void close() {
        children.forEach(Child::close);
    }
}
