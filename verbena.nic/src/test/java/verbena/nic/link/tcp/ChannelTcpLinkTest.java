package verbena.nic.link.tcp;

import java.util.List;
import verbena.nic.link.LinkKind;
import verbena.verbs.GidEntry;

class ChannelTcpLinkTest extends TcpLinkContract {
    @Override
    TcpLink open(List<GidEntry> gids) {
        return TcpLinks.open(gids, LinkKind.PORTABLE);
    }
}
