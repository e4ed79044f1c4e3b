package verbena.verbs.cm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.reflect.Proxy;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import verbena.verbs.Context;
import verbena.verbs.Device;
import verbena.verbs.Gid;

/// A choice of devices has no parts that contradict each other.
class DeviceChoiceTest {
    private static final Gid OWN = Gid.parse("10.0.0.1");

    private final Context context = named("first");

    private static Context named(String name) {
        var device = (Device)
                Proxy.newProxyInstance(Device.class.getClassLoader(), new Class<?>[] {Device.class}, (_, method, _) -> {
                    assertThat(method.getName()).isEqualTo("name");
                    return name;
                });
        return (Context) Proxy.newProxyInstance(
                Context.class.getClassLoader(),
                new Class<?>[] {Context.class},
                (proxy, method, arguments) -> switch (method.getName()) {
                    case "device" -> device;
                    case "equals" -> proxy == arguments[0];
                    case "hashCode" -> System.identityHashCode(proxy);
                    default -> throw new AssertionError(method);
                });
    }

    @Test
    void optionsWithoutADeviceMeanTheNearest() {
        assertThat(DeviceChoice.of(Optional.empty())).isSameAs(DeviceChoice.nearest());
        assertThat(DeviceChoice.of(Optional.of(context)).device()).contains(context);
        assertThat(DeviceChoice.of(Optional.of(context)).isNearest()).isFalse();
    }

    @Test
    void oneDeviceLeavesNoneToTheAddress() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> DeviceChoice.only(context).withDevices(_ -> Optional.of(context)))
                .withMessage("withDevices: all connections use first");
    }

    @Test
    void onlyTheNearestHasDevicesOfTheHost() {
        for (DeviceChoice choice : new DeviceChoice[] {DeviceChoice.byAddress(), DeviceChoice.only(context)}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> choice.withDevicesOfHost(_ -> Optional.of(context)))
                    .withMessage("withDevicesOfHost: only with DeviceChoice.nearest()");
        }
    }

    @Test
    void devicesOfTheProgramAreAddedToTheChoice() {
        DeviceChoice both = DeviceChoice.nearest()
                .withDevices(own -> own.equals(OWN) ? Optional.of(context) : Optional.empty())
                .withDevicesOfHost(_ -> Optional.of(context));

        assertThat(both.isNearest()).isTrue();
        assertThat(both.device()).isEmpty();
        assertThat(both.at(OWN)).contains(context);
        assertThat(both.at(Gid.parse("10.0.0.2"))).isEmpty();
        assertThat(both.ofHost(OWN)).contains(context);
        assertThat(DeviceChoice.nearest().at(OWN)).isEmpty();
        assertThat(DeviceChoice.nearest().ofHost(OWN)).isEmpty();
    }
}
