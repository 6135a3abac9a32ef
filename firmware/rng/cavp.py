"""Known answers for both mechanisms: data of NIST's CAVP (CAVS 14.3), carried inside the program.

The first case of every combination of mechanism, flow, personalization and additional input; tests run the
whole extract of 288 (rng_and_stats.md 3). All of it is hexadecimal text.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum


class Flow(Enum):
    """Which calls a case makes. Only the bits of the last generate are compared."""

    NO_RESEED = "no_reseed"  # instantiate, generate, generate
    RESEED = "pr_false"  # instantiate, reseed, generate, generate
    PREDICTION_RESISTANCE = "pr_true"  # instantiate, then twice: reseed, generate


@dataclass(frozen=True, slots=True)
class Case:
    """One CAVP case.

    ``reseeds``: entropy and additional input of each reseed; ``additional``: the input of each generate.
    """

    mechanism: str
    flow: Flow
    count: int
    entropy: str
    nonce: str
    personalization: str
    reseeds: tuple[tuple[str, str], ...]
    additional: tuple[str, str]
    returned: str


CASES: tuple[Case, ...] = (
    Case(
        mechanism="CTR_DRBG AES-256 use df",
        flow=Flow.NO_RESEED,
        count=0,
        entropy="36401940fa8b1fba91a1661f211d78a0b9389a74e5bccfece8d766af1a6d3b14",
        nonce="496f25b0f1301b4f501be30380a137eb",
        personalization="",
        reseeds=(),
        additional=("", ""),
        returned=(
            "5862eb38bd558dd978a696e6df164782ddd887e7e9a6c9f3f1fbafb78941b535a64912dfd224c6dc7454e525"
            "0b3d97165e16260c2faf1cc7735cb75fb4f07e1d"
        ),
    ),
    Case(
        mechanism="CTR_DRBG AES-256 use df",
        flow=Flow.NO_RESEED,
        count=0,
        entropy="8148d65d86513ce7d38923ec2f26b9e7c677dcc8997e325b7372619e753ed944",
        nonce="41c71a24d17d974190982bb7515ce7f5",
        personalization="",
        reseeds=(),
        additional=(
            "55b446046c2d14bdd0cdba4b71873fd4762650695a11507949462da8d964ab6a",
            "91468f1a097d99ee339462ca916cb4a10f63d53850a4f17f598eac490299b02e",
        ),
        returned=(
            "54603d1a506132bbfa05b153a04f22a1d516cc46323cef15111af221f030f38d6841d4670518b4914a4631af"
            "682e7421dffaac986a38e94d92bfa758e2eb101f"
        ),
    ),
    Case(
        mechanism="CTR_DRBG AES-256 use df",
        flow=Flow.NO_RESEED,
        count=0,
        entropy="5416e77b5e1d872d4ff91973b1be66bc07f4a99e30db7d0006da006fcfb082db",
        nonce="7a811ce62b9fd34af186b2b3e50eaf5d",
        personalization="71ee0c7699ac0e805632f2058de38bf872b8340f89998f7a8a2ad4ac045ae6ef",
        reseeds=(),
        additional=("", ""),
        returned=(
            "68f5859cf76f94c445d9fcd34fc17ac224c3d7d7c2fc38faaf3c24be6cd3cd93b7f9d8a6146f5ac83ac1d7b1"
            "b2b7e7ecbc1a2e38760ef86a577d402d85990d9b"
        ),
    ),
    Case(
        mechanism="CTR_DRBG AES-256 use df",
        flow=Flow.NO_RESEED,
        count=0,
        entropy="87b56e964eba227154724bb9484b812d3e2c0c43b3d17f6098d9526e16e6d0ef",
        nonce="9bea6a7ff2358df142e6c23e2157fb83",
        personalization="9860b432edd58d1ccbfeecbce99ffaee7d935a614860d4e965bd67041403096b",
        reseeds=(),
        additional=(
            "99a5cc87924e8ea65a596f81fd17d63f5b4542fe6e8e1511b5d35c835dfadb0b",
            "9a8dec54734a34582a2332f3452e82313524c3e0dfb485faeac6ca5fc0ff504d",
        ),
        returned=(
            "dbc6a2330b19b5cddd8cd6392ec1fb508678c805e87d1aca07ac265007632503044a00610c79d98375afa7ab"
            "4cca1a90989cbfe7c674af5d823ced11c47e9af6"
        ),
    ),
    Case(
        mechanism="CTR_DRBG AES-256 use df",
        flow=Flow.RESEED,
        count=0,
        entropy="2d4c9f46b981c6a0b2b5d8c69391e569ff13851437ebc0fc00d616340252fed5",
        nonce="0bf814b411f65ec4866be1abb59d3c32",
        personalization="",
        reseeds=(
            (
                "93500fae4fa32b86033b7a7bac9d37e710dcc67ca266bc8607d665937766d207",
                "",
            ),
        ),
        additional=("", ""),
        returned=(
            "322dd28670e75c0ea638f3cb68d6a9d6e50ddfd052b772a7b1d78263a7b8978b6740c2b65a9550c3a7632586"
            "6fa97e16d74006bc96f26249b9f0a90d076f08e5"
        ),
    ),
    Case(
        mechanism="CTR_DRBG AES-256 use df",
        flow=Flow.RESEED,
        count=0,
        entropy="6f60f0f9d486bc23e1223b934e61c0c78ae9232fa2e9a87c6dacd447c3f10e9e",
        nonce="401e3f87762fa8a14ab232ccb8480a2f",
        personalization="",
        reseeds=(
            (
                "350be52552a65a804a106543ebb7dd046cffae104e4e8b2f18936d564d3c1950",
                "7a3688adb1cfb6c03264e2762ece96bfe4daf9558fabf74d7fff203c08b4dd9f",
            ),
        ),
        additional=(
            "67cf4a56d081c53670f257c25557014cd5e8b0e919aa58f23d6861b10b00ea80",
            "648d4a229198b43f33dd7dd8426650be11c5656adcdf913bb3ee5eb49a2a3892",
        ),
        returned=(
            "2d819fb9fee38bfc3f15a07ef0e183ff36db5d3184cea1d24e796ba103687415abe6d9f2c59a11931439a3d1"
            "4f45fc3f4345f331a0675a3477eaf7cd89107e37"
        ),
    ),
    Case(
        mechanism="CTR_DRBG AES-256 use df",
        flow=Flow.RESEED,
        count=0,
        entropy="5bb14bec3a2e435acab8b891f075107df387902cb2cd996021b1a1245d4ea2b5",
        nonce="12ac7f444e247f770d2f4d0a65fdab4e",
        personalization="2e957d53cba5a6b9b8a2ce4369bb885c0931788015b9fe5ac3c01a7ec5eacd70",
        reseeds=(
            (
                "19f30c84f6dbf1caf68cbec3d4bb90e5e8f5716eae8c1bbadaba99a2a2bd4eb2",
                "",
            ),
        ),
        additional=("", ""),
        returned=(
            "b7dd8ac2c5eaa97c779fe46cc793b9b1e7b940c318d3b531744b42856f298264e45f9a0aca5da93e7f34f0eb"
            "c0ed0ea32c009e3e03cf01320c9a839807575405"
        ),
    ),
    Case(
        mechanism="CTR_DRBG AES-256 use df",
        flow=Flow.RESEED,
        count=0,
        entropy="174b46250051a9e3d80c56ae7163dafe7e54481a56cafd3b8625f99bbb29c442",
        nonce="98ffd99c466e0e94a45da7e0e82dbc6b",
        personalization="7095268e99938b3e042734b9176c9aa051f00a5f8d2a89ada214b89beef18ebf",
        reseeds=(
            (
                "e88be1967c5503f65d23867bbc891bd679db03b4878663f6c877592df25f0d9a",
                "cdf6ad549e45b6aa5cd67d024931c33cd133d52d5ae500c3015020beb30da063",
            ),
        ),
        additional=(
            "c7228e90c62f896a09e11684530102f926ec90a3255f6c21b857883c75800143",
            "76a94f224178fe4cbf9e2b8acc53c9dc3e50bb613aac8936601453cda3293b17",
        ),
        returned=(
            "1a6d8dbd642076d13916e5e23038b60b26061f13dd4e006277e0268698ffb2c87e453bae1251631ac90c701a"
            "9849d933995e8b0221fe9aca1985c546c2079027"
        ),
    ),
    Case(
        mechanism="CTR_DRBG AES-256 use df",
        flow=Flow.PREDICTION_RESISTANCE,
        count=0,
        entropy="16a1f035388cd8d956026e3b0117cb524dd3eb563f9a7720bb7dcb0fc6fbe743",
        nonce="a2d015f22d854e29de278d910c573de5",
        personalization="",
        reseeds=(
            (
                "cf140bcd4d7130e7e3ea14046c56442b57c43b34ad219553e7105c18f6e561af",
                "",
            ),
            (
                "e27c9f0be60d82d6cc474efb7fc737b16a6895d9a3a45b971d19b743c1a4ac8f",
                "",
            ),
        ),
        additional=("", ""),
        returned=(
            "b4e8395bcb7503410a94633f70e9904a5b30e62c35bc6dd2a03496c4a49932e184fbffdbcf1de1c72c50d36d"
            "c2ae8f04f40f96aae159c3fb816ca16df99b6c3e"
        ),
    ),
    Case(
        mechanism="CTR_DRBG AES-256 use df",
        flow=Flow.PREDICTION_RESISTANCE,
        count=0,
        entropy="a31337e0cbf2ee3e8d1d39324c978e714b5acc678920d5839fe95477ca3b8741",
        nonce="a7f8b770a506acfc79b2c431660d310f",
        personalization="",
        reseeds=(
            (
                "c2e44d8b2c97f4c14e39c8137cc62818f1a223dde1dfe9def8672c2a6fab8c04",
                "5494597f0e8644d6028495c6599911cf30fc96a1b92a3a5dc862fecfc353c43d",
            ),
            (
                "923405e7878b3e203cb531f688c10725d7a55edacc2b9f195f7137080b278ea1",
                "e7635b6f9e63c08942c4b5c86b5e60bbe3e89ea3809fb3939985c93eedd17f8d",
            ),
        ),
        additional=("", ""),
        returned=(
            "5dbd55ed2f6d6c1749096b40f6a97d9cf42c0841b27ce0efd7433110d8118955c8cefeb9db8e1c7961eb3f51"
            "7f2047d27281261760a5e2b24535bb6f565bb971"
        ),
    ),
    Case(
        mechanism="CTR_DRBG AES-256 use df",
        flow=Flow.PREDICTION_RESISTANCE,
        count=0,
        entropy="ca58fdf2b977cb49d4e05be23950d98a6ab3c52fdf74d5858fd1ba64547bdb1e",
        nonce="c5ea24c0fa0c90150920924232364545",
        personalization="5a7095e98140523391537e75d6199d1ead0dc6a7de6c1fe0ea1833a87e0620e9",
        reseeds=(
            (
                "7d20766bcfa215c82f9fbc883f80d12cb716d1809ee1c9b3881b2145efa17fce",
                "",
            ),
            (
                "c89235552ad91d8e1238ac014e3818769cf2b6d413b62c77c0e7e60c474495be",
                "",
            ),
        ),
        additional=("", ""),
        returned=(
            "ce2fdbb6d9b7398504c5c042c231c61d9b5a59f87e0dcc627b65115510eb9e3da4fb1c6a18c074dbdde70223"
            "6321d039f9a7c452843b4940722bb06c9cdbc343"
        ),
    ),
    Case(
        mechanism="CTR_DRBG AES-256 use df",
        flow=Flow.PREDICTION_RESISTANCE,
        count=0,
        entropy="534346a3e0baa65d7a51871b6d633a6f1efa9ff55dfde3212c95029adf2387d9",
        nonce="0cbe99821509975d824fd826c47d2abc",
        personalization="020d7340569e68d992e6e8ddfbead9f993c74d971e4339fe91074f87e9d7d777",
        reseeds=(
            (
                "286091709d2e91bfef6654b8449d5e5564b6c2fe1f3e4e6e59fe776461bfb0dc",
                "f41040eff2a7010287c2a76d7867a66e61299be1e1247a6b22a64b829ada8624",
            ),
            (
                "e68e127b2e5b9d6539c26f7e78bec13314e37febdb7105d1d65f0bde23c87d38",
                "94efe68e2185646a17bb8a83268142a7b7a02786c1ee90ab8f7399ccf543de26",
            ),
        ),
        additional=("", ""),
        returned=(
            "da6389d151e3b2b332fbcc02b2cc5af4f69835e9fbbe19130f91cbf30a3c24580ebfb4311b3487e9d6a61de9"
            "dc2842c107152158b0e75a932c38e5b8ddff10e6"
        ),
    ),
    Case(
        mechanism="HMAC_DRBG SHA-256",
        flow=Flow.NO_RESEED,
        count=0,
        entropy="ca851911349384bffe89de1cbdc46e6831e44d34a4fb935ee285dd14b71a7488",
        nonce="659ba96c601dc69fc902940805ec0ca8",
        personalization="",
        reseeds=(),
        additional=("", ""),
        returned=(
            "e528e9abf2dece54d47c7e75e5fe302149f817ea9fb4bee6f4199697d04d5b89d54fbb978a15b5c443c9ec21"
            "036d2460b6f73ebad0dc2aba6e624abf07745bc107694bb7547bb0995f70de25d6b29e2d3011bb19d27676c0"
            "7162c8b5ccde0668961df86803482cb37ed6d5c0bb8d50cf1f50d476aa0458bdaba806f48be9dcb8"
        ),
    ),
    Case(
        mechanism="HMAC_DRBG SHA-256",
        flow=Flow.NO_RESEED,
        count=0,
        entropy="d3cc4d1acf3dde0c4bd2290d262337042dc632948223d3a2eaab87da44295fbd",
        nonce="0109b0e729f457328aa18569a9224921",
        personalization="",
        reseeds=(),
        additional=(
            "3c311848183c9a212a26f27f8c6647e40375e466a0857cc39c4e47575d53f1f6",
            "fcb9abd19ccfbccef88c9c39bfb3dd7b1c12266c9808992e305bc3cff566e4e4",
        ),
        returned=(
            "9c7b758b212cd0fcecd5daa489821712e3cdea4467b560ef5ddc24ab47749a1f1ffdbbb118f4e62fcfca3371"
            "b8fbfc5b0646b83e06bfbbab5fac30ea09ea2bc76f1ea568c9be0444b2cc90517b20ca825f2d0eccd88e7175"
            "538b85d90ab390183ca6395535d34473af6b5a5b88f5a59ee7561573337ea819da0dcc3573a22974"
        ),
    ),
    Case(
        mechanism="HMAC_DRBG SHA-256",
        flow=Flow.NO_RESEED,
        count=0,
        entropy="5cacc68165a2e2ee20812f35ec73a79dbf30fd475476ac0c44fc6174cdac2b55",
        nonce="6f885496c1e63af620becd9e71ecb824",
        personalization="e72dd8590d4ed5295515c35ed6199e9d211b8f069b3058caa6670b96ef1208d0",
        reseeds=(),
        additional=("", ""),
        returned=(
            "f1012cf543f94533df27fedfbf58e5b79a3dc517a9c402bdbfc9a0c0f721f9d53faf4aafdc4b8f7a1b580fca"
            "a52338d4bd95f58966a243cdcd3f446ed4bc546d9f607b190dd69954450d16cd0e2d6437067d8b44d19a6af7"
            "a7cfa8794e5fbd728e8fb2f2e8db5dd4ff1aa275f35886098e80ff844886060da8b1e7137846b23b"
        ),
    ),
    Case(
        mechanism="HMAC_DRBG SHA-256",
        flow=Flow.NO_RESEED,
        count=0,
        entropy="5d3286bc53a258a53ba781e2c4dcd79a790e43bbe0e89fb3eed39086be34174b",
        nonce="c5422294b7318952ace7055ab7570abf",
        personalization="2dba094d008e150d51c4135bb2f03dcde9cbf3468a12908a1b025c120c985b9d",
        reseeds=(),
        additional=(
            "793a7ef8f6f0482beac542bb785c10f8b7b406a4de92667ab168ecc2cf7573c6",
            "2238cdb4e23d629fe0c2a83dd8d5144ce1a6229ef41dabe2a99ff722e510b530",
        ),
        returned=(
            "d04678198ae7e1aeb435b45291458ffde0891560748b43330eaf866b5a6385e74c6fa5a5a44bdb284d436e98"
            "d244018d6acedcdfa2e9f499d8089e4db86ae89a6ab2d19cb705e2f048f97fb597f04106a1fa6a1416ad3d85"
            "9118e079a0c319eb95686f4cbcce3b5101c7a0b010ef029c4ef6d06cdfac97efb9773891688c37cf"
        ),
    ),
    Case(
        mechanism="HMAC_DRBG SHA-256",
        flow=Flow.RESEED,
        count=0,
        entropy="06032cd5eed33f39265f49ecb142c511da9aff2af71203bffaf34a9ca5bd9c0d",
        nonce="0e66f71edc43e42a45ad3c6fc6cdc4df",
        personalization="",
        reseeds=(
            (
                "01920a4e669ed3a85ae8a33b35a74ad7fb2a6bb4cf395ce00334a9c9a5a5d552",
                "",
            ),
        ),
        additional=("", ""),
        returned=(
            "76fc79fe9b50beccc991a11b5635783a83536add03c157fb30645e611c2898bb2b1bc215000209208cd506cb"
            "28da2a51bdb03826aaf2bd2335d576d519160842e7158ad0949d1a9ec3e66ea1b1a064b005de914eac2e9d4f"
            "2d72a8616a80225422918250ff66a41bd2f864a6a38cc5b6499dc43f7f2bd09e1e0f8f5885935124"
        ),
    ),
    Case(
        mechanism="HMAC_DRBG SHA-256",
        flow=Flow.RESEED,
        count=0,
        entropy="05ac9fc4c62a02e3f90840da5616218c6de5743d66b8e0fbf833759c5928b53d",
        nonce="2b89a17904922ed8f017a63044848545",
        personalization="",
        reseeds=(
            (
                "2791126b8b52ee1fd9392a0a13e0083bed4186dc649b739607ac70ec8dcecf9b",
                "43bac13bae715092cf7eb280a2e10a962faf7233c41412f69bc74a35a584e54c",
            ),
        ),
        additional=(
            "3f2fed4b68d506ecefa21f3f5bb907beb0f17dbc30f6ffbba5e5861408c53a1e",
            "529030df50f410985fde068df82b935ec23d839cb4b269414c0ede6cffea5b68",
        ),
        returned=(
            "02ddff5173da2fcffa10215b030d660d61179e61ecc22609b1151a75f1cbcbb4363c3a89299b4b63aca5e581"
            "e73c860491010aa35de3337cc6c09ebec8c91a6287586f3a74d9694b462d2720ea2e11bbd02af33adefb4a16"
            "e6b370fa0effd57d607547bdcfbb7831f54de7073ad2a7da987a0016a82fa958779a168674b56524"
        ),
    ),
    Case(
        mechanism="HMAC_DRBG SHA-256",
        flow=Flow.RESEED,
        count=0,
        entropy="fa0ee1fe39c7c390aa94159d0de97564342b591777f3e5f6a4ba2aea342ec840",
        nonce="dd0820655cb2ffdb0da9e9310a67c9e5",
        personalization="f2e58fe60a3afc59dad37595415ffd318ccf69d67780f6fa0797dc9aa43e144c",
        reseeds=(
            (
                "e0629b6d7975ddfa96a399648740e60f1f9557dc58b3d7415f9ba9d4dbb501f6",
                "",
            ),
        ),
        additional=("", ""),
        returned=(
            "f92d4cf99a535b20222a52a68db04c5af6f5ffc7b66a473a37a256bd8d298f9b4aa4af7e8d181e02367903f9"
            "3bdb744c6c2f3f3472626b40ce9bd6a70e7b8f93992a16a76fab6b5f162568e08ee6c3e804aefd952ddd3acb"
            "791c50f2ad69e9a04028a06a9c01d3a62aca2aaf6efe69ed97a016213a2dd642b4886764072d9cbe"
        ),
    ),
    Case(
        mechanism="HMAC_DRBG SHA-256",
        flow=Flow.RESEED,
        count=0,
        entropy="cdb0d9117cc6dbc9ef9dcb06a97579841d72dc18b2d46a1cb61e314012bdf416",
        nonce="d0c0d01d156016d0eb6b7e9c7c3c8da8",
        personalization="6f0fb9eab3f9ea7ab0a719bfa879bf0aaed683307fda0c6d73ce018b6e34faaa",
        reseeds=(
            (
                "8ec6f7d5a8e2e88f43986f70b86e050d07c84b931bcf18e601c5a3eee3064c82",
                "1ab4ca9014fa98a55938316de8ba5a68c629b0741bdd058c4d70c91cda5099b3",
            ),
        ),
        additional=(
            "16e2d0721b58d839a122852abd3bf2c942a31c84d82fca74211871880d7162ff",
            "53686f042a7b087d5d2eca0d2a96de131f275ed7151189f7ca52deaa78b79fb2",
        ),
        returned=(
            "dda04a2ca7b8147af1548f5d086591ca4fd951a345ce52b3cd49d47e84aa31a183e31fbc42a1ff1d95afec71"
            "43c8008c97bc2a9c091df0a763848391f68cb4a366ad89857ac725a53b303ddea767be8dc5f605b1b95f6d24"
            "c9f06be65a973a089320b3cc42569dcfd4b92b62a993785b0301b3fc452445656fce22664827b88f"
        ),
    ),
    Case(
        mechanism="HMAC_DRBG SHA-256",
        flow=Flow.PREDICTION_RESISTANCE,
        count=0,
        entropy="9969e54b4703ff31785b879a7e5c0eae0d3e309559e9fe96b0676d49d591ea4d",
        nonce="07d20d46d064757d3023cac2376127ab",
        personalization="",
        reseeds=(
            (
                "c60f2999100f738c10f74792676a3fc4a262d13721798046e29a295181569f54",
                "",
            ),
            (
                "c11d4524c9071bd3096015fcf7bc24a607f22fa065c937658a2a77a8699089f4",
                "",
            ),
        ),
        additional=("", ""),
        returned=(
            "abc015856094803a938dffd20da94843870ef935b82cfec17706b8f551b8385044235dd44b599f94b39be78d"
            "d476e0cf11309c995a7334e0a78b37bc9586235086fa3b637ba91cf8fb65efa22a589c137531aa7b2d4e2607"
            "aac27292b01c698e6e01ae679eb87c01a89c7422d4372d6d754ababb4bf896fcb1cd09d692d0283f"
        ),
    ),
    Case(
        mechanism="HMAC_DRBG SHA-256",
        flow=Flow.PREDICTION_RESISTANCE,
        count=0,
        entropy="2cad88b2b6a06e703de46185ccb2ddcf5e0ee030995ebdf95cc4fbc38441f17f",
        nonce="32310770e04172c0cf91f6590cce44a4",
        personalization="",
        reseeds=(
            (
                "448bfbc5ce9e3b9da3e9642daecd994dfe373e75253e8eb585141224eca7ad7b",
                "ef6da5e6530e0d621749ab192e06327e995c3ac0c3963ab8c8cd2df2839ab5df",
            ),
            (
                "afb57f69799c0b892b3015990e133698d543aa87829ace868e4a5e9525d62357",
                "44278b31ed853f0a510bd14650ac4b4971d8b426799a43511d016be68dedbb8d",
            ),
        ),
        additional=("", ""),
        returned=(
            "4c7dfbe509dc5a3ac26998723c6a44cad20b197fc86117c778d1568ab828923862885e97198f77a1cb45113f"
            "5d78726a0f120aec94afc45f57c8dcc1cb092b343480012858ef5bc559f57023442209326ec4a54d91ca3a77"
            "dfdf9e75f117cef50e6fd2dc9af6ddce8e6515b4a97357a97b6cd274f68a042fa41bbd7b7261b034"
        ),
    ),
    Case(
        mechanism="HMAC_DRBG SHA-256",
        flow=Flow.PREDICTION_RESISTANCE,
        count=0,
        entropy="f7b90c797a4a376cdd9f5c435f5985e77f36ec1df1145a12072cbb2a0da378fc",
        nonce="d95202986d45896e9f4a65f2f353fa35",
        personalization="61535c5c045e784267fd0d85f2861778fa53c8e8586af67cf5c9f21a28ebb656",
        reseeds=(
            (
                "130ab64f41a5d49d6a241e0260b4bb8a46a16c6ac9e234c84b5b26cdb518d459",
                "",
            ),
            (
                "f7670e817ac061ac60439be60982492000dc5da8bc6636bdac8b1cab03198dfd",
                "",
            ),
        ),
        additional=("", ""),
        returned=(
            "8df4e349f9ea43cc509ecb2b1124358cda2de1f5cc9315edca63610a413478d68b8bb49c2814c82ce571f6e0"
            "a6780fa21c4b570610ee0c04d3edb92124f580f962d741330200c19885ca716502223247b728d66fbbeb7c6c"
            "c25cfe9866b1450b346227c7663074c8b15d189f1c6edba172a53c733d67c1c69bd7aca7e62013cd"
        ),
    ),
    Case(
        mechanism="HMAC_DRBG SHA-256",
        flow=Flow.PREDICTION_RESISTANCE,
        count=0,
        entropy="4294671d493dc085b5184607d7de2ff2b6aceb734a1b026f6cfee7c5a90f03da",
        nonce="d071544e599235d5eb38b64b551d2a6e",
        personalization="63bc769ae1d95a98bde870e4db7776297041d37c8a5c688d4e024b78d83f4d78",
        reseeds=(
            (
                "db9b4790b62336fbb9a684b82947065393eeef8f57bd2477141ad17e776dac34",
                "28848becd3f47696f124f4b14853a456156f69be583a7d4682cff8d44b39e1d3",
            ),
            (
                "4a9abe80f6f522f29878bedf8245b27940a76471006fb4a4110beb4decb6c341",
                "8bfce0b7132661c3cd78175d83926f643e36f7608eec2c5dac3ddcbacc8c2182",
            ),
        ),
        additional=("", ""),
        returned=(
            "e580dc969194b2b18a97478aef9d1a72390aff14562747bf080d741527a6655ce7fc135325b457483a9f9c70"
            "f91165a811cf4524b50d51199a0df3bd60d12abac27d0bf6618e6b114e05420352e23f3603dfe8a225dc19b3"
            "d1fff1dc245dc6b1df24c741744bec3f9437dbbf222df84881a457a589e7815ef132f686b760f012"
        ),
    ),
)
