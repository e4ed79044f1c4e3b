package verbena.sim.model;

import java.util.List;

/// A posted receive (`struct ibv_recv_wr`).
public record ModelReceive(long wrId, List<Piece> pieces) {
    public ModelReceive {
        pieces = List.copyOf(pieces);
    }

    long capacity() {
        return pieces.stream().mapToLong(Piece::length).sum();
    }
}
