package verbena.nic.link;

import java.util.List;
import verbena.verbs.GidEntry;

class ChannelTcpLinkTest extends TcpLinkContract {
    @Override
    TcpLink open(List<GidEntry> gids) {
        return TcpLink.open(gids, LinkKind.PORTABLE);
    }
}
