package verbena.subnet.manager;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;
import verbena.wire.mad.Sa;
import verbena.wire.mad.ServiceRecord;

/// The services that ports have registered (IBTA 15.2.5.14), until their lease ends.
final class Services {
    private static final int SERVICES_MAX = 1024;
    private static final long SECOND = 1_000_000_000L;

    private record Service(MemorySegment record, long endNanos) {}

    private final List<Service> services = new ArrayList<>();

    int size() {
        return services.size();
    }

    int register(MemorySegment query, List<MemorySegment> found, long nowNanos) {
        int lease = ServiceRecord.LEASE.getInt(query);
        if (lease == 0) {
            return Sa.STATUS_REQUEST_INVALID;
        }
        services.removeIf(one -> ServiceRecord.COMPONENTS.matches(ServiceRecord.IDENTITY, query, one.record));
        if (services.size() == SERVICES_MAX) {
            return Sa.STATUS_NO_RESOURCES;
        }
        MemorySegment record = MemorySegment.ofArray(new byte[ServiceRecord.BYTES]);
        record.copyFrom(query.asSlice(0, ServiceRecord.BYTES));
        long end = lease == ServiceRecord.FOR_EVER ? Long.MAX_VALUE : nowNanos + Integer.toUnsignedLong(lease) * SECOND;
        services.add(new Service(record, end));
        found.add(record);
        return 0;
    }

    int remove(long mask, MemorySegment query, List<MemorySegment> found) {
        find(mask | ServiceRecord.IDENTITY, query, found);
        services.removeIf(one -> ServiceRecord.COMPONENTS.matches(mask | ServiceRecord.IDENTITY, query, one.record));
        return 0;
    }

    int find(long mask, MemorySegment query, List<MemorySegment> found) {
        for (Service one : services) {
            if (ServiceRecord.COMPONENTS.matches(mask, query, one.record)) {
                found.add(one.record);
            }
        }
        return 0;
    }

    long deadlineNanos() {
        return services.stream().mapToLong(Service::endNanos).min().orElse(Long.MAX_VALUE);
    }

    void onDeadline(long nowNanos) {
        services.removeIf(one -> one.endNanos <= nowNanos);
    }
}
