package verbena.nic.link.tcp;

import java.util.List;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import verbena.nic.link.LinkKind;
import verbena.verbs.GidEntry;

@EnabledOnOs(value = OS.LINUX, disabledReason = "Linux system calls")
class LinuxTcpLinkTest extends TcpLinkContract {
    @Override
    TcpLink open(List<GidEntry> gids) {
        return TcpLinks.open(gids, LinkKind.LINUX);
    }
}
