package verbena.nio;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class AddressRulesTest {
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "''                       | 10.0.0.1     | 80   | false",
                "*                        | 8.8.8.8      | 80   | true",
                "local                    | 127.0.0.1    | 80   | true",
                "local                    | 10.200.3.4   | 80   | true",
                "local                    | 172.16.0.1   | 80   | true",
                "local                    | 169.254.1.1  | 80   | true",
                "local                    | 192.168.1.1  | 80   | true",
                "local                    | fd12::1      | 80   | true",
                "local                    | fe80::1      | 80   | true",
                "local                    | ::1          | 80   | true",
                "local                    | 8.8.8.8      | 80   | false",
                "local                    | 2001:db8::1  | 80   | false",
                "10.1.0.0/16              | 10.1.255.9   | 80   | true",
                "10.1.0.0/16              | 10.2.0.9     | 80   | false",
                "10.1.0.0/17              | 10.1.128.0   | 80   | false",
                "10.1.0.7                 | 10.1.0.7     | 80   | true",
                "10.1.0.7                 | 10.1.0.8     | 80   | false",
                "0.0.0.0/0                | ::2          | 80   | false",
                "[fd00::]/8               | fdff::1      | 1    | true",
                "[fd00::]/8:7-9           | fdff::1      | 10   | false",
                ":9092                    | 8.8.8.8      | 9092 | true",
                ":9092                    | 8.8.8.8      | 9093 | false",
                ":9000-9999               | 8.8.8.8      | 9999 | true",
                "10.1.0.7:80              | 10.1.0.7     | 80   | true",
                "10.1.0.7:80              | 10.1.0.7     | 81   | false",
                "'8.8.8.8, local:22, :1'  | 10.0.0.1     | 22   | true",
                "'8.8.8.8, local:22, :1'  | 10.0.0.1     | 23   | false",
            })
    void aRuleMatchesItsHostsAndPorts(String rules, String host, int port, boolean matches) {
        var peer = new InetSocketAddress(InetAddress.ofLiteral(host), port);
        assertThat(new AddressRules(rules).match(peer)).isEqualTo(matches);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"host.example", "10.0.0.0/33", "10.0.0.1:x", ":", "10.0.0.1:1-", "10.0.0.0/-1", "[fd00::/8"})
    void whatIsNoRuleIsRefusedByItsText(String rules) {
        assertThatThrownBy(() -> new AddressRules(rules))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(rules);
    }
}
