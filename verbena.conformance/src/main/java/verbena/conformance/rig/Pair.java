package verbena.conformance.rig;

/// Two connected ends. Most cases have `a` ask and `b` answer.
public record Pair(Side a, Side b) implements AutoCloseable {
    @Override
    public void close() {
        a.close();
        b.close();
    }
}
