package verbena.nic;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.management.ManagementFactory;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import javax.management.JMX;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import javax.management.openmbean.CompositeData;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import verbena.nic.device.DeviceContext;
import verbena.nic.management.DeviceMXBean;
import verbena.nic.management.QueuePairStatus;
import verbena.nic.roce.LinkDevice;
import verbena.verbs.Access;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.QueuePair;
import verbena.verbs.QueuePairOptions;
import verbena.verbs.WorkCompletion;
import verbena.verbs.counting.LateBeans;

/// Devices as JMX shows them.
@Timeout(180)
class ManagementTest {
    private final MBeanServer server = ManagementFactory.getPlatformMBeanServer();

    /// Registers without waiting for the delay.
    @BeforeEach
    void begin() {
        LateBeans.begin();
    }

    /// The MXBeans of devices, newest last.
    private List<ObjectName> names() throws Exception {
        Set<ObjectName> all = server.queryNames(new ObjectName("verbena:type=Device,*"), null);
        return all.stream()
                .sorted(Comparator.comparingInt(name -> Integer.parseInt(name.getKeyProperty("id"))))
                .toList();
    }

    private DeviceMXBean newest() throws Exception {
        return JMX.newMXBeanProxy(server, names().getLast(), DeviceMXBean.class);
    }

    @Test
    void aDeviceIsThereWhileItIsOpen() throws Exception {
        List<ObjectName> before = names();
        try (Context device = Device.named("rocev2").open()) {
            DeviceMXBean bean = newest();
            assertThat(names()).hasSize(before.size() + 1);
            assertThat(bean.getName()).isEqualTo(device.device().name());
            assertThat(bean.getPid()).isEqualTo(ProcessHandle.current().pid());
            assertThat(bean.getTransport()).isEqualTo("INFINIBAND");
            assertThat(bean.getState()).isEqualTo("ACTIVE");
            assertThat(bean.getGids()).containsExactly(device.gid(1, 0).gid().toString());
            assertThat(bean.getCounters()).containsOnlyKeys(device.counters().keySet());
            assertThat(bean.getQueuePairs()).isEmpty();
            assertThat(bean.getOpenedMillis()).isBetween(1L, System.currentTimeMillis());
        }
        assertThat(names()).isEqualTo(before);
    }

    @Test
    void aNameWithOptionsIsQuoted() throws Exception {
        try (Context device = Device.named("rocev2,mtu=1024").open()) {
            assertThat(newest().getName()).isEqualTo(device.device().name());
            assertThat(newest().getActiveMtu()).isEqualTo(1024);
        }
    }

    @Test
    void aQueuePairShowsItsStatePeerQueuesAndTotals() throws Exception {
        try (Context a = Device.named("rocev2").open();
                Context b = Device.named("rocev2").open()) {
            var domainA = a.allocateProtectionDomain();
            var domainB = b.allocateProtectionDomain();
            var cqA = a.createCompletionQueue(16);
            var cqB = b.createCompletionQueue(32);
            QueuePair qpA = domainA.createQueuePair(QueuePairOptions.rc(cqA));
            QueuePair qpB = domainB.createQueuePair(QueuePairOptions.rc(cqB));
            var memory = domainA.allocate(4096, Access.remoteAll());
            var target = domainB.allocate(4096, Access.remoteAll());
            qpA.connect(qpB.endpoint());
            qpB.connect(qpA.endpoint());
            qpB.postReceive(1, target.slice(0, 100));
            qpB.postReceive(2, target.slice(0, 100));
            qpA.postSend(3, memory.slice(0, 100));
            var wc = new WorkCompletion();
            while (!cqA.poll(wc)) {
                Thread.onSpinWait();
            }
            assertThat(wc.ok()).isTrue();

            List<ObjectName> names = names();
            var beanA = JMX.newMXBeanProxy(server, names.get(names.size() - 2), DeviceMXBean.class);
            var beanB = JMX.newMXBeanProxy(server, names.getLast(), DeviceMXBean.class);
            QueuePairStatus ofA = beanA.getQueuePairs().getFirst();
            QueuePairStatus ofB = beanB.getQueuePairs().getFirst();
            assertThat(ofA.qpn()).isEqualTo(qpA.qpn());
            assertThat(ofA.type()).isEqualTo("RC");
            assertThat(ofA.state()).isEqualTo("RTS");
            assertThat(ofA.peer()).isEqualTo(b.gid(1, 0).gid().toString());
            assertThat(ofA.peerQpn()).isEqualTo(qpB.qpn());
            assertThat(ofA.sentPackets()).isEqualTo(1);
            assertThat(ofA.sentBytes()).isEqualTo(12 + 100 + 4);
            assertThat(ofA.receivedPackets()).as("the ACK").isEqualTo(1);
            assertThat(ofA.sendsOutstanding()).isZero();
            assertThat(ofA.completions()).isEqualTo(1);
            assertThat(ofA.completionCapacity()).isEqualTo(16);
            assertThat(ofB.receivesPosted()).isEqualTo(1);
            assertThat(ofB.completionsWaiting()).isEqualTo(1);
            assertThat(ofB.sharedReceives()).isFalse();
            assertThat(ofA.errors() + ofA.rnrNaks() + ofA.retransmittedPackets())
                    .isZero();
            assertThat(qpA.counters()).containsEntry("sent.packets", 1L).containsEntry("sent.bytes", 116L);
            assertThat(a.counters())
                    .as("the device's own counter is the same")
                    .containsEntry("sent.packets", 1L)
                    .containsEntry("received.packets", 1L);

            qpA.close();
            qpB.close();
            memory.close();
            target.close();
            cqA.close();
            cqB.close();
            domainA.close();
            domainB.close();
        }
    }

    @Test
    void toolsThatDoNotKnowVerbenaReadItAsOpenData() throws Exception {
        try (Context device = Device.named("rocev2").open()) {
            var domain = device.allocateProtectionDomain();
            var cq = device.createCompletionQueue(16);
            QueuePair qp = domain.createQueuePair(QueuePairOptions.ud(cq));
            var all = (CompositeData[]) server.getAttribute(names().getLast(), "QueuePairs");
            assertThat(all[0].get("qpn")).isEqualTo(qp.qpn());
            assertThat(all[0].get("state")).isEqualTo("RESET");
            qp.close();
            cq.close();
            domain.close();
        }
    }

    /// A reader that needed the engine would wait for ever.
    @Test
    void aDeviceWhoseEngineIsStuckStillAnswers() throws Exception {
        var stuck = new CountDownLatch(1);
        var release = new CountDownLatch(1);
        try (var device = (DeviceContext) Device.named("rocev2").open()) {
            device.engine().later(() -> {
                stuck.countDown();
                try {
                    release.await();
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                }
            });
            stuck.await();
            assertThat(newest().getQueuePairs()).isEmpty();
            assertThat(newest().getCounters()).containsEntry("sent.packets", 0L);
            release.countDown();
        }
    }

    @Test
    void aDeviceThatHasFailedSaysWhy() throws Exception {
        var wire = new Wire("10.0.0.1", new Wire.Clock());
        try (var device = (DeviceContext) LinkDevice.open("broken", wire, System::nanoTime, new Random(1), true)) {
            device.engine().fail(new IllegalStateException("the wire is cut"));
            assertThat(newest().getState()).contains("has failed").contains("the wire is cut");
        }
    }

    @Test
    void aDeviceWithoutAThreadOfItsOwnIsNotShown() throws Exception {
        List<ObjectName> before = names();
        try (var pair = new Pair()) {
            assertThat(pair.a.context.engines().hasThread()).isFalse();
            assertThat(names()).isEqualTo(before);
        }
    }
}
