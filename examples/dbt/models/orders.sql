select customer, product, shop
from read_csv('{{ var("orders_file") }}', all_varchar = true)
