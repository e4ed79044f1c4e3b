package verbena.sim.traffic;

/// The harm that programs do to themselves and to each other. Shares are probabilities for each request posted.
///
/// @param slowReceiverNanos receives are posted up to so late; 0 for in time
/// @param kill share of requests after which one of the two queue pairs is ended: moved to ERR, or closed
/// @param withdraw share of requests after which memory that the peer writes to is withdrawn
public record Hazards(long slowReceiverNanos, double kill, double withdraw) {
    public static final Hazards NONE = new Hazards(0, 0, 0);
}
