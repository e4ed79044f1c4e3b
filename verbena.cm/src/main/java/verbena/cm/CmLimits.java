package verbena.cm;

/// The limits on what peers can make us hold.
///
/// @param connections connections and those being made; the oldest timewait is cut short when there are more
/// @param halfOpen requests without an answer, and answers without a confirmation; when one more comes
///     the oldest is forgotten. As many SIDR requests, and as many answers to those
/// @param perPeer of the half open, how many of one address are its share: it may have more as long as there is
///     room. Of the SIDR requests too
public record CmLimits(int connections, int halfOpen, int perPeer) {
    /// 65,536 connections, 1,024 half open, 128 as the share of one peer.
    public static final CmLimits DEFAULT = new CmLimits(65_536, 1_024, 128);
}
