package verbena.sim.model;

/// A scatter/gather entry (`struct ibv_sge`).
public record Piece(int lkey, long address, int length) {}
