package verbena.checked.corpus;

import java.util.ArrayList;
import java.util.List;
import verbena.check.Rule;
import verbena.verbs.Access;
import verbena.verbs.LocalMemory;
import verbena.verbs.MemoryRegion;

/// Each record is a region.
final class ManySmallRegions implements Program {
    @Override
    public Rule rule() {
        return Rule.SMALL_REGIONS;
    }

    @Override
    public void wrong(TwoEnds scene) throws Exception {
        List<MemoryRegion> records = new ArrayList<>();
        for (int i = 0; i < 256; i++) {
            records.add(scene.domain.register(scene.arena.allocate(512), Access.remoteAll())); // here
        }
        records.forEach(MemoryRegion::close);
    }

    @Override
    public void right(TwoEnds scene) throws Exception {
        MemoryRegion all = scene.domain.register(scene.arena.allocate(256 * 512), Access.remoteAll());
        for (int i = 0; i < 256; i++) {
            LocalMemory record = all.slice(i * 512L, 512);
            record.segment().fill((byte) i);
        }
        all.close();
    }
}
